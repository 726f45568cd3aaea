// SPDX-License-Identifier: Apache-2.0
// Presents one component of a heterogeneous job as a job of its own. Pure.
#pragma once

#include <string>
#include <vector>

namespace dts::launch {

// Converts the batch script's environment ("NAME=value") to that of a job which consists of this
// component alone. SLURM_X gets the value of SLURM_X_HET_GROUP_n (sbatch(1), OUTPUT ENVIRONMENT
// VARIABLES), and variables that only describe the first component are omitted. SLURM_JOB_ID
// remains that of the whole job, since srun accepts no other (Slurm 22.05: "Job not heterogeneous
// job leader").
[[nodiscard]] std::vector<std::string> environment_of_component(
    const std::vector<std::string>& environment, unsigned component);

}  // namespace dts::launch
