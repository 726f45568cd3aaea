// SPDX-License-Identifier: Apache-2.0
// Options of Slurm's plug-ins: those that sbatch has as well as srun (uenv, Shifter), which
// dtsubmit leaves to sbatch, for the whole job, and those of pyxis. Pure.
#pragma once

#include "core/convert/program/launcher.hpp"
#include "core/convert/program/program.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::convert {

// True for an option that sbatch can take instead of srun. `name` is without dashes.
[[nodiscard]] bool is_left_to_sbatch(std::string_view name);

// Moves those that the program's srun has to the job. A loss if the job has another value.
void settle_plugin_options(Program& program, Draft& draft);

inline constexpr const char* k_blank_of_container =
    "a blank in the script: fill it in there and convert again, as other lines may depend on it";

inline constexpr const char* k_names_handed_on =
    "the container gets the variables that the set-up exports, and, where its image has none of "
    "that name, those of files that the set-up reads";

inline constexpr const char* k_known_in_job = "its value is known only in the job's shell";

// Of a list between commas, in which values may be known only in the job's shell.
struct KnownEntries {
  std::vector<std::string> known;
  std::string unknown;  // the rest, as the script has it
};

[[nodiscard]] KnownEntries entries_of(const std::string& list);

// ${!NCCL*}: all variables whose names begin so, also in a variable of the script.
[[nodiscard]] bool lists_names_by_prefix(std::string_view value, const lint::Runs& runs);

// Without an image there is no container: if the image is left open, its other options are comments
// as well, and if there is none, nothing is mounted.
void settle_without_image(Launched& made);

}  // namespace dts::convert
