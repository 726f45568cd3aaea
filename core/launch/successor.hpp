// SPDX-License-Identifier: Apache-2.0
// How a run goes on in another job, under its own id or, where that cannot be, a new one.
#pragma once

#include "core/base/result.hpp"
#include "core/run/run_directory.hpp"
#include "core/sched/scheduler.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// Our environment without what must not leak into a job.
[[nodiscard]] std::vector<std::string> scrubbed_environment();

// The run's own files as the request they were once made into, with our own environment. Errors: a
// file of the run directory that cannot be read.
[[nodiscard]] Result<sched::Submission> make_successor(const run::RunDirectory& run);

// A person's word that the run is to go on, written into its ledger with `why`: budgets begin anew.
// The value is the job that goes on: `job`, or its successor. Errors: the scheduler's, its words in
// the message; `rejected` also for a job that still runs and may not be requeued.
[[nodiscard]] Result<sched::JobId> run_again(sched::Scheduler& scheduler,
                                             const run::RunDirectory& run,
                                             sched::JobId job,
                                             const std::string& why);

}  // namespace dts::launch
