// SPDX-License-Identifier: Apache-2.0
// dtsubmit requeue: run a job again from its newest checkpoint, in the same run directory.
#include "cli/commands/command.hpp"
#include "cli/commands/selection.hpp"
#include "core/launch/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/ledger.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace dts::cli {
namespace {

// The same job where the scheduler still knows it and lets it; else a successor under a new id.
Result<sched::JobId> again(sched::Scheduler& scheduler,
                           const run::RunDirectory& run,
                           sched::JobId job) {
  const auto requeued = scheduler.requeue(job);
  if (requeued) return job;
  if (requeued.error().code == Errc::unreachable) return tl::unexpected<Error>(requeued.error());
  // A job that may not be requeued but still runs must not get a twin that writes beside it.
  if (const auto info = scheduler.job(job); info && !sched::is_terminal(info->state))
    return tl::unexpected<Error>(requeued.error());
  DTS_ASSIGN(const sched::Submission successor, launch::make_successor(run));
  return scheduler.submit(successor);
}

Result<int> act(const Selection& selection) {
  DTS_ASSIGN(const run::RunDirectory run, find(selection));
  DTS_ASSIGN(const sched::JobId job, job_of(run));
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  run::Event resumed;
  resumed.event = "resumed";
  resumed.detail = "asked for by `dtsubmit requeue`";
  DTS_ASSIGN(resumed.job, again(*scheduler, run, job));
  DTS_TRY(run::append_event(run.ledger(), resumed));
  if (resumed.job == job)
    fmt::print("requeued job {}\nfollow it: dtsubmit logs -f {}\n", job, job);
  else
    fmt::print("job {} is over; submitted job {} to continue it\nfollow it: dtsubmit logs -f {}\n",
               job,
               resumed.job,
               resumed.job);
  return 0;
}

}  // namespace

void add_requeue(CLI::App& app, Invocation& invocation) {
  const auto selection = std::make_shared<Selection>();
  CLI::App* verb = app.add_subcommand("requeue", "run a job again from its newest checkpoint");
  add_selection(*verb, *selection, true);
  verb->callback(
      [selection, &invocation] { invocation.action = [selection] { return act(*selection); }; });
}

}  // namespace dts::cli
