// SPDX-License-Identifier: Apache-2.0
// dtsubmit requeue: run a job again from its newest checkpoint, in the same run directory.
#include "cli/commands/command.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/submission.hpp"
#include "core/base/files.hpp"
#include "core/plan/json.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/ledger.hpp"
#include "core/spec/json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace dts::cli {
namespace {

// The run's own files as the request they were once made into.
Result<Prepared> load(const run::RunDirectory& run) {
  Prepared prepared;
  DTS_ASSIGN(const std::string spec, read_file(run.spec()));
  DTS_ASSIGN(prepared.spec, spec::from_json(spec, run.spec()));
  DTS_ASSIGN(const std::string plan, read_file(run.plan()));
  DTS_ASSIGN(prepared.plan, plan::plan_from_json(plan));
  DTS_ASSIGN(prepared.script, read_file(run.script()));
  const std::size_t slash = run.path.rfind('/');
  prepared.runs = run.path.substr(0, slash);
  prepared.run_name = run.path.substr(slash + 1);
  return prepared;
}

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
  DTS_ASSIGN(const Prepared prepared, load(run));
  return scheduler.submit(make_submission(prepared, scrubbed_environment()));
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
