// SPDX-License-Identifier: Apache-2.0
// The scheduler's record of a run's job, for `list`, `status` and `why`.
#pragma once

#include "cli/output/why.hpp"
#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"

#include <optional>

namespace dts::cli {

// Sets known.job, or known.forgotten if the scheduler no longer knows the job of known.summary.
// Errors: the scheduler did not answer.
[[nodiscard]] Result<void> read_job(sched::Scheduler& scheduler, RunFacts& known);

// True if the run's ledger can be read and says that the run has ended.
[[nodiscard]] bool has_ended(const run::RunDirectory& run);

// Records that a command of the user's took the run's job out of the queue, where no agent could:
// the scheduler forgets it. Nothing is recorded while an attempt is under way. Warns of an error.
void record_cancelled_in_queue(const run::RunDirectory& run, sched::JobId job, const char* command);

// Why a scheduler that does not know a run's job proves nothing: the job was submitted to another
// cluster, where it may still be. nullopt if it was not, as far as the user's index tells.
[[nodiscard]] std::optional<Error> on_another_cluster(const run::RunDirectory& run,
                                                      sched::JobId job);

// That error, if the scheduler does not know the job of a run without an end in its ledger. Call it
// before any order that would take the job for over.
[[nodiscard]] Result<void> check_cluster(sched::Scheduler& scheduler,
                                         const run::RunDirectory& run,
                                         sched::JobId job);

}  // namespace dts::cli
