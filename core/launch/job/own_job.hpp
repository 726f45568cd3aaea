// SPDX-License-Identifier: Apache-2.0
// Whether a job is still the run's. A controller that has lost its state gives the ids that it gave
// before to other jobs, and another cluster has other jobs under the same ids.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/order.hpp"
#include "core/sched/scheduler.hpp"

#include <optional>
#include <string>

namespace dts::launch {

// True also if the scheduler does not report the job's script. Runs are compared by the names of
// their folders, which are unique, because the folders above may have been moved or linked.
[[nodiscard]] bool is_of_run(const run::RunDirectory& run, const sched::JobInfo& job);

// The same for a job whose script is known; true if either is unknown.
[[nodiscard]] bool has_script(const sched::JobInfo& job, const std::optional<std::string>& script);

// Scheduler::job() for a job of the run: not_found also if that id is another job's now. To be
// asked before any order about the job.
[[nodiscard]] Result<sched::JobInfo> job_of_run(sched::Scheduler& scheduler,
                                                const run::RunDirectory& run,
                                                const sched::JobId& job);

// sched::cancel_for_certain() for a job of the run: not_found, and nothing is cancelled, if that id
// is another job's now.
[[nodiscard]] Result<void> cancel_job_of_run(sched::Scheduler& scheduler,
                                             const run::RunDirectory& run,
                                             const sched::JobId& job,
                                             const sched::Patience& patience = {});

}  // namespace dts::launch
