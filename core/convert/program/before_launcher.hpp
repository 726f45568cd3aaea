// SPDX-License-Identifier: Apache-2.0
// The words before a launcher in its command: NAME=value, time, timeout 10m, exec. Pure.
#pragma once

#include "core/convert/program/launcher.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace dts::convert {

// Removes ${DRY_RUN} from `${DRY_RUN} srun ...`: a variable that is empty, or that the script sets
// to echo to show the command.
void drop_dry_run(std::vector<FlatWord>& words,
                  const Resolver& resolver,
                  const lint::Runs& runs,
                  Launched& made);

// Removes CUDA_VISIBLE_DEVICES=0 and the like of a step of srun, in a job with GPUs: Slurm sets
// them for each step, whatever the script says.
void drop_devices(std::vector<FlatWord>& variables, Launched& made);

// The first `count` words.
void read_before(const std::vector<FlatWord>& words, std::size_t count, Launched& made);

// exec and command
[[nodiscard]] bool is_prefix_of_shell(std::string_view name);

// exec, command, time as a word of the shell. \time -v is a program of its own, and with options
// so is command: command -v prog, exec -a name prog.
[[nodiscard]] bool only_runs_next(const std::vector<FlatWord>& words);

// No program could be started in its place.
[[nodiscard]] bool is_for_shell(const shell::Command& one);

}  // namespace dts::convert
