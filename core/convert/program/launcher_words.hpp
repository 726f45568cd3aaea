// SPDX-License-Identifier: Apache-2.0
// Words between a launcher and its program whose values only conditions decide. Pure.
#pragma once

#include "core/convert/words/resolve.hpp"
#include "core/lint/script/runs.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::convert {

// Stands for words that are not options, or not relevant ones.
inline constexpr const char* k_no_option = "--no-option-of-this-job=";
inline constexpr std::string_view k_no_option_name = "no-option-of-this-job";

// `words` with the values that are known. Behind the first, a variable that holds a program is
// "program"; one with options of srun that a job of dtsubmit does without, or with nothing, is
// k_no_option.
[[nodiscard]] std::vector<FlatWord> known_words(const std::vector<FlatWord>& words,
                                                const Resolver& resolver,
                                                const lint::Runs& runs);

// "$1" for $1, and for $NAME behind NAME=$1: an argument of the script. Empty: something else.
// `is_in_function`: $1 is one of a function.
[[nodiscard]] std::string argument_in(const std::string& source,
                                      const lint::Runs& runs,
                                      bool is_in_function);

// Splits at commas: NAME=value,NAME=value.
[[nodiscard]] std::vector<FlatWord> split_words(const FlatWord& list);

// A path, or a part of a mount, that a variable of the script leaves empty.
[[nodiscard]] bool has_empty_part(std::string_view value);

// Options of srun that set the size of a step, like those of a job.
[[nodiscard]] bool is_size(std::string_view name);

// The option's value is the job's own, as Slurm gives it to the batch script: -n $SLURM_NTASKS.
[[nodiscard]] bool is_size_of_job(std::string_view name, std::string_view source);

// Options of srun that change the ranks' behaviour and that dtsubmit lacks.
[[nodiscard]] bool is_without_counterpart(std::string_view name);

// srun A : B or mpirun A : B, several programs, each with its own ranks, in one world.
[[nodiscard]] bool starts_several(const std::vector<lint::ExpandedWord>& words,
                                  const lint::Launch& launch);

inline constexpr const char* k_several_programs =
    "`:` begins another program, with ranks of its own: all ranks of a job or role run one "
    "program; "
    "write each program as one of [[roles]], or start one that chooses by its rank";

// The launcher's own words whose values are known only in the job's shell, for people.
[[nodiscard]] std::string unknown_options(const std::vector<FlatWord>& words,
                                          const lint::Launch& launch);

// --container-image of the container that srun enters by --container-name alone, as another srun
// of the script made it; without a value: none did. nullopt: it has an image of its own, or no
// name.
[[nodiscard]] std::optional<lint::LaunchOption> image_of_name(const lint::Launch& launch,
                                                              const lint::Runs& runs);

inline constexpr const char* k_changed_container =
    "--container-name: an earlier step changes the container, and each program begins with the "
    "image";

// Another srun makes the container that srun enters by its name, and may install something in it:
// bash -c "apt-get install ...". pyxis enters a container that exists, also where an image is
// named; then one that certainly installs something, before `at`, counts.
[[nodiscard]] bool is_changed_before(const lint::Launch& launch,
                                     const lint::Runs& runs,
                                     std::size_t at);

}  // namespace dts::convert
