// SPDX-License-Identifier: Apache-2.0
// How a run continues in another job, under its own id or, if that is not possible, a new one.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/amendment.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/order.hpp"
#include "core/sched/scheduler.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts::launch {

// Our environment, without the variables that must not leak into a job.
[[nodiscard]] std::vector<std::string> scrubbed_environment();

// The working folder of all attempts of the run: the folder it was submitted from, or with
// --snapshot a copy of it. Error: provenance.json cannot be read.
[[nodiscard]] Result<std::string> work_folder(const run::RunDirectory& run);

// This process's working folder; empty if it was removed, or is a stale handle of a network file
// system.
[[nodiscard]] std::string folder_here();

// Enters `folder` if this process is elsewhere, as a step is whose node does not have it: Slurm
// starts it in /tmp, mpirun in the home folder. Returns what is wrong if that fails, as
// enter_work_folder() does.
[[nodiscard]] std::string enter_folder(const std::string& folder);

// Enters the run's working folder again if ours was removed, or is a stale handle of a network file
// system, or if Slurm has started the job in /tmp because the folder was not there. Returns what is
// wrong if that fails, as a sentence without a full stop; otherwise empty. Changes the process's
// working folder, so call it while no other thread depends on it.
[[nodiscard]] std::string enter_work_folder(const run::RunDirectory& run);

// The submission that the run's files describe, with our own environment. Error: a file of the run
// directory cannot be read.
[[nodiscard]] Result<sched::Submission> make_successor(const run::RunDirectory& run);

// Finds, by its script, the job of a run whose ledger has none because the answer to its submission
// was lost, and records it. Empty if there is none, or if it is being submitted at the moment.
// Errors: the scheduler's, or those of writing the record.
[[nodiscard]] Result<sched::JobId> find_job(sched::Scheduler& scheduler,
                                            const run::RunDirectory& run);

struct Resumed {
  enum class By {
    requeue,     // the job is requeued
    queue,       // it was already in the queue
    submission,  // a successor under a new id
    another,     // another request for the same run was faster
  };

  sched::JobId job{};  // the job that continues the run
  By by = By::requeue;
  std::string waits{};   // of a job in the queue: why, as a clause; may be empty
  std::string advice{};  // what the user can do about it; empty: nothing
};

// Continues the run at a user's request made at `since`: records it in the ledger with `why`, and
// resets budgets. Of several simultaneous requests, one is carried out. Errors: the scheduler's,
// quoted in the message; `rejected` also if the job still runs and may not be requeued;
// `unreachable` also if the outcome remains unknown, see sched/order.hpp.
[[nodiscard]] Result<Resumed> run_again(sched::Scheduler& scheduler,
                                        const run::RunDirectory& run,
                                        const std::string& why,
                                        std::chrono::system_clock::time_point since,
                                        const sched::Patience& patience = {});

// The same with other options: amends the run's files, and always submits a new job; a waiting job
// is cancelled first. Errc::rejected also if a job of the run is running.
[[nodiscard]] Result<Resumed> run_again_with(sched::Scheduler& scheduler,
                                             const run::RunDirectory& run,
                                             const run::Amendment& amendment,
                                             const std::string& why,
                                             std::chrono::system_clock::time_point since,
                                             const sched::Patience& patience = {});

}  // namespace dts::launch
