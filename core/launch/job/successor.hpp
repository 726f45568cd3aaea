// SPDX-License-Identifier: Apache-2.0
// How a run continues in another job, under its own id or, if that is not possible, a new one.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/order.hpp"
#include "core/sched/scheduler.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts::launch {

// Our environment without the variables that must not leak into a job.
[[nodiscard]] std::vector<std::string> scrubbed_environment();

// Where all attempts of the run work: the folder that it was submitted from, or with --snapshot a
// copy of it. Errors: a provenance.json that cannot be read.
[[nodiscard]] Result<std::string> work_folder(const run::RunDirectory& run);

// The request that the run's files were once made into, with our own environment. Errors: a file of
// the run directory that cannot be read.
[[nodiscard]] Result<sched::Submission> make_successor(const run::RunDirectory& run);

// The job of a run whose ledger has none, found by its script and recorded: the answer to its
// submission was lost. Empty: there is none, or it is being submitted right now. Errors: the
// scheduler's; the disk's.
[[nodiscard]] Result<sched::JobId> find_job(sched::Scheduler& scheduler,
                                            const run::RunDirectory& run);

struct Resumed {
  enum class By {
    requeue,     // the job is requeued
    queue,       // it was in the queue already
    submission,  // a successor under a new id
    another,     // somebody else requested the same and was faster
  };

  sched::JobId job{};  // the job that continues the run
  By by = By::requeue;
};

// Continues the run at a user's request, made at `since`: it is recorded in the ledger with `why`,
// and budgets are reset. Of several simultaneous requests one is carried out. Errors: the
// scheduler's, quoted in the message; `rejected` also for a job that still runs and may not be
// requeued; unreachable also if the outcome stays unknown, see sched/order.hpp.
[[nodiscard]] Result<Resumed> run_again(sched::Scheduler& scheduler,
                                        const run::RunDirectory& run,
                                        const std::string& why,
                                        std::chrono::system_clock::time_point since,
                                        const sched::Patience& patience = {});

}  // namespace dts::launch
