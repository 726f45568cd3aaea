// SPDX-License-Identifier: Apache-2.0
// Our processes that are direct children of slurmstepd and therefore receive signals sent to their
// step; under proctrack/cgroup, no process below them does. They notify the agent through the run
// directory's channel.json, which they find by DTSUBMIT_RUN_DIR and DTSUBMIT_ATTEMPT.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// `dtsubmit orted ARGUMENTS`, `dtsubmit prted ARGUMENTS`: runs Open MPI's daemon of that name
// (release 4, release 5) with SIGTERM, SIGINT and SIGHUP blocked, so that the PMIx server, on which
// its ranks depend, survives the signal that asks them to save. Returns the daemon's exit code.
// `argv` is the daemon's, including its name.
[[nodiscard]] Result<int> run_mpi_daemon(const std::vector<std::string>& argv);

// `dtsubmit hydra PROXY ARGUMENTS`: the same for the proxy of Hydra (mpiexec of MPICH).

// `dtsubmit ARGUMENTS`, if one of them is hydra-srun: replaces itself by srun, see shielded_srun().
[[nodiscard]] Result<int> become_srun(const std::vector<std::string>& arguments);

// `dtsubmit sentinel`: reports signals, and ends when the agent is gone.
[[nodiscard]] Result<int> run_sentinel();

}  // namespace dts::launch
