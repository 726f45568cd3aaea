// SPDX-License-Identifier: Apache-2.0
// Options of Slurm's plug-ins (uenv, Shifter) that sbatch has as well as srun: dtsubmit leaves them
// to sbatch, for the whole job.
#pragma once

#include "core/convert/program/program.hpp"

#include <string_view>

namespace dts::convert {

// True for an option that sbatch can take instead of srun. `name` is without dashes.
[[nodiscard]] bool is_left_to_sbatch(std::string_view name);

// Moves those that the program's srun has to the job. A loss if the job has another value.
void settle_plugin_options(Program& program, Draft& draft);

}  // namespace dts::convert
