// SPDX-License-Identifier: Apache-2.0
// Waiting for the end of other runs (--after). A run is over when its ledger says so, not when one
// of its jobs ends: it may continue under another id. So Slurm waits for the run's newest job,
// however that ends, and the agent checks again before it starts anything.
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
  std::vector<sched::JobId> jobs;    // the newest jobs of the runs that are not over
  std::vector<std::string> refused;  // one clause each: the runs that did not end as requested
};

// `after` names run directories. A sweep is done when all its elements are. Errors: a ledger that
// cannot be read; the scheduler's, if a run's ledger has no end.
[[nodiscard]] Result<Awaited> look_at_awaited(sched::Scheduler& scheduler,
                                              const std::vector<spec::After>& after);

// In sbatch's --dependency syntax: "afterany:12:13"; empty for no jobs.
[[nodiscard]] std::string dependency_on(const std::vector<sched::JobId>& jobs);

}  // namespace dts::launch
