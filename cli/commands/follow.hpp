// SPDX-License-Identifier: Apache-2.0
// Waiting for a submitted job.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/lease.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"

#include <cstddef>

namespace dts::cli {

// Follows the run until it is decided, telling of each change on standard error; events of the
// ledger before `first` are known already. The value is the job's own exit code, 128 + signal if it
// was killed. The ledger is read every half second; the scheduler is asked at most every 30 s once
// the job runs.
[[nodiscard]] Result<int> follow_job(sched::Scheduler& scheduler,
                                     const run::RunDirectory& run,
                                     sched::JobId job,
                                     std::size_t first = 0);

// The same of a run without a scheduler, whose agent is `agent` on this machine.
[[nodiscard]] Result<int> follow_local(const run::RunDirectory& run,
                                       const run::Lease& agent,
                                       std::size_t first);

}  // namespace dts::cli
