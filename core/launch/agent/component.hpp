// SPDX-License-Identifier: Apache-2.0
// One component of a heterogeneous job, as a job of its own. Pure.
#pragma once

#include <string>
#include <vector>

namespace dts::launch {

// The batch script's environment ("NAME=value") as the script of a job would have it that consists
// of this component alone: SLURM_X is what SLURM_X_HET_GROUP_n says (sbatch(1), OUTPUT ENVIRONMENT
// VARIABLES), and what is only the first component's is left out. SLURM_JOB_ID stays that of the
// whole job, since srun takes no other (Slurm 22.05: "Job not heterogeneous job leader").
[[nodiscard]] std::vector<std::string> environment_of_component(
    const std::vector<std::string>& environment, unsigned component);

}  // namespace dts::launch
