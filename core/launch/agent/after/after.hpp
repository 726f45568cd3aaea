// SPDX-License-Identifier: Apache-2.0
// Waiting for the end of other runs (--after). The ledger decides whether a run is over, not the
// end of one of its jobs, since a run may continue under another id. So Slurm waits for the run's
// latest job, however that ends, and the agent checks again before it starts anything.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"
#include "core/spec/after.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// The state of the runs that another run waits for.
struct Awaited {
  std::vector<sched::JobId> jobs;    // the latest jobs of those runs that are not over
  std::vector<std::string> refused;  // one clause for each run that did not end as requested
};

// `after` names run directories. A sweep is done when all of its elements are. Errors: a ledger
// that cannot be read, and the scheduler's if a run's ledger has no end.
[[nodiscard]] Result<Awaited> look_at_awaited(sched::Scheduler& scheduler,
                                              const std::vector<spec::After>& after);

// The jobs in the syntax of sbatch's --dependency: "afterany:12:13"; empty for no jobs.
[[nodiscard]] std::string dependency_on(const std::vector<sched::JobId>& jobs);

}  // namespace dts::launch
