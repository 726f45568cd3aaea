// SPDX-License-Identifier: Apache-2.0
// The words before a launcher in its command: NAME=value, time, timeout 10m, exec. Pure.
#pragma once

#include "core/convert/program/launcher.hpp"

#include <cstddef>
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

}  // namespace dts::convert
