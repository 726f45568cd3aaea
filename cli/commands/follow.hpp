// SPDX-License-Identifier: Apache-2.0
// Follows a submitted job to its end.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/lease.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"

#include <cstddef>
#include <string>

namespace dts::cli {

// Follows the run until it is decided and reports each change on standard error, skipping the first
// `first` events of the ledger. Returns the job's own exit code, or 128 + signal if it was killed.
// Reads the ledger every half second; queries the scheduler at most every 30 s once the job runs.
// `on_interrupt` is printed at Ctrl-C, which only ends the following.
[[nodiscard]] Result<int> follow_job(sched::Scheduler& scheduler,
                                     const run::RunDirectory& run,
                                     sched::JobId job,
                                     std::size_t first,
                                     const std::string& on_interrupt);

// The same for a run without a scheduler, whose agent is `agent` on this machine.
[[nodiscard]] Result<int> follow_local(const run::RunDirectory& run,
                                       const run::Lease& agent,
                                       std::size_t first,
                                       const std::string& on_interrupt);

// For `on_interrupt` after `dtsubmit stop`: what is waited for still saves and ends. `what`: "the
// run". `name`: how `dtsubmit cancel` refers to it; empty: it cannot be cancelled.
[[nodiscard]] std::string still_saves_words(const std::string& what, const std::string& name);

}  // namespace dts::cli
