// SPDX-License-Identifier: Apache-2.0
// The variables that sbatch, not the controller, adds to a job's environment.
#pragma once

#include <slurm/slurm.h>

#include <string>
#include <vector>

namespace slurm_plugin {

// Appends them as "NAME=value". srun, mpirun and slurmstepd read them: SLURM_NTASKS and the like
// decide what a bare srun starts, SLURM_RLIMIT_* and SLURM_UMASK carry this process's limits and
// umask to the nodes. SLURM_CONF is included if it is set, since it identifies the cluster.
void add_client_variables(const job_desc_msg_t& job, std::vector<std::string>& environment);

}  // namespace slurm_plugin
