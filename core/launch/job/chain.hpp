// SPDX-License-Identifier: Apache-2.0
// The next job of a run (--chain): it waits in the queue while the current one runs, and takes over
// when that job's time is up.
#pragma once

#include "core/base/job_id.hpp"
#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"

#include <string>

namespace dts::launch {

// The content of a run's chain.json.
struct Chain {
  unsigned jobs = 1;  // in the chain so far, including the waiting job
  JobId waiting{};    // the waiting job; empty: none
};

// A run without chain.json has a chain of one job.
[[nodiscard]] Result<Chain> read_chain(const run::RunDirectory& run);

// Submits the next job, to start after `own` has ended in any way, unless one already waits or the
// chain has `most` jobs. Returns the resulting chain.
[[nodiscard]] Result<Chain> extend_chain(sched::Scheduler& scheduler,
                                         const run::RunDirectory& run,
                                         const JobId& own,
                                         unsigned most);

// Cancels the waiting job, if there is one.
[[nodiscard]] Result<void> cut_chain(sched::Scheduler& scheduler, const run::RunDirectory& run);

}  // namespace dts::launch
