// SPDX-License-Identifier: Apache-2.0
// dtsubmit requeue: run a job again from its newest checkpoint, in the same run directory.
#include "cli/commands/command.hpp"
#include "cli/commands/selection.hpp"
#include "core/launch/successor.hpp"
#include "core/plugin/scheduler.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace dts::cli {
namespace {

Result<int> act(const Selection& selection) {
  DTS_ASSIGN(const run::RunDirectory run, find(selection));
  DTS_ASSIGN(const run::Ledger ledger, run::load_ledger(run.ledger()));
  warn_of_damage(run, ledger);
  DTS_ASSIGN(const sched::JobId job, job_of(run));
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  DTS_ASSIGN(const sched::JobId now,
             launch::run_again(*scheduler, run, job, "asked for by `dtsubmit requeue`"));
  if (now != job) note_in_index(run, now);
  if (now == job)
    fmt::print("requeued job {}\nfollow it: dtsubmit logs -f {}\n", job, job);
  else
    fmt::print("job {} is over; submitted job {} to continue it\nfollow it: dtsubmit logs -f {}\n",
               job,
               now,
               now);
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
