// SPDX-License-Identifier: Apache-2.0
// Waiting for the end of other runs (--after). A run is over when its ledger says so, not when a
// job of it ends: it may go on under another id. So Slurm is asked to wait for the run's newest job
// however that ends, and the agent looks again before it starts anything.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"
#include "core/spec/after.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// Where runs stand that another one waits for.
struct Awaited {
  std::vector<sched::JobId> jobs;    // the newest ones of those that are not over
  std::vector<std::string> refused;  // in a clause each: those that ended in another way than asked
};

// `after` names run directories, of sweeps as well: such a one is done when all its elements are.
// Errors: a ledger that cannot be read; the scheduler's, where the ledger of a run has no end.
[[nodiscard]] Result<Awaited> look_at_awaited(sched::Scheduler& scheduler,
                                              const std::vector<spec::After>& after);

// As sbatch's --dependency: "afterany:12:13"; empty: no job.
[[nodiscard]] std::string dependency_on(const std::vector<sched::JobId>& jobs);

}  // namespace dts::launch
