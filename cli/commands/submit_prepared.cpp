// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/submit_prepared.hpp"

#include "cli/commands/held_signals.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/run/directory/file_lock.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/sched/order.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>

namespace dts::cli {
namespace {

tl::unexpected<Error> not_known(const run::RunDirectory& run) {
  return fail(Errc::unreachable,
              fmt::format("no answer from the controller: it is not known whether it accepted the "
                          "job of {}, so the run directory is kept",
                          run.path),
              fmt::format("`dtsubmit status {0}` looks for the job, `dtsubmit cancel {0}` ends it, "
                          "`dtsubmit requeue {0}` submits it if there is none",
                          shell_quote(run.path)));
}

}  // namespace

// Syncs the run directory to disk while the scheduler processes the request: both take
// milliseconds.
Result<sched::JobId> submit_prepared(sched::Scheduler& scheduler, const Prepared& prepared) {
  DTS_ASSIGN(const run::RunDirectory run, write_run(prepared));
  const UniqueFd lock = run::lock_submission(run, std::chrono::milliseconds(0));
  auto synced = std::async(std::launch::async, [&run] { return run::sync_run_directory(run); });
  const auto job =
      sched::submit_once(scheduler, submission_of(prepared), {}, interactive_patience());
  auto durable = synced.get();
  if (job && !*job) return not_known(run);
  if (job && durable)
    durable = run::append_event(run.ledger(), {.job = **job, .what = run::Submitted{}});
  if (job && durable) return **job;
  // Leave nothing half done: no job without its directory, and no directory without its job.
  if (!job || sched::cancel_for_certain(scheduler, **job, interactive_patience())) [[maybe_unused]]
    const auto removed = remove_all(run.path);
  return tl::unexpected<Error>(job ? std::move(durable).error() : job.error());
}

}  // namespace dts::cli
