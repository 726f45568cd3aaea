// SPDX-License-Identifier: Apache-2.0
// Whether a job still belongs to the run. A controller that has lost its state gives earlier ids to
// other jobs, and another cluster has other jobs with the same ids.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/order.hpp"
#include "core/sched/scheduler.hpp"

#include <optional>
#include <string>

namespace dts::launch {

// True also if the scheduler does not report the job's script. Runs are compared by the names of
// their folders, which are unique, because parent folders may have been moved or linked; a folder
// that was renamed is recognized by its script, which has the former path.
[[nodiscard]] bool is_of_run(const run::RunDirectory& run, const sched::JobInfo& job);

// The same for a job with a known script. True if one of the two scripts is unknown.
[[nodiscard]] bool has_script(const sched::JobInfo& job, const std::optional<std::string>& script);

// The folder that the run was moved or copied from, as the batch script of its job shows, which
// still names that folder: for an element in its array, the sweep's. nullopt if the run is where it
// was made, or has no such script.
[[nodiscard]] std::optional<std::string> earlier_folder(const run::RunDirectory& run);

// Errc::invalid if the run or sweep that this one is a copy of still exists: orders about their
// common job are for that run. Call it before any such order.
[[nodiscard]] Result<void> check_not_a_copy(const run::RunDirectory& run);

// Calls Scheduler::job() for a job of the run. Errc::not_found also if its id now belongs to
// another job. Call it before any order about the job.
[[nodiscard]] Result<sched::JobInfo> job_of_run(sched::Scheduler& scheduler,
                                                const run::RunDirectory& run,
                                                const sched::JobId& job);

// Calls sched::cancel_for_certain() for a job of the run. False if the job was over before.
// Errc::not_found, without cancelling anything, if its id now belongs to another job.
[[nodiscard]] Result<bool> cancel_job_of_run(sched::Scheduler& scheduler,
                                             const run::RunDirectory& run,
                                             const sched::JobId& job,
                                             const sched::Patience& patience = {});

}  // namespace dts::launch
