// SPDX-License-Identifier: Apache-2.0
// dtsubmit cancel: end a job; what it saved stays.
#include "cli/commands/command.hpp"
#include "cli/commands/selection.hpp"
#include "core/plugin/scheduler.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace dts::cli {
namespace {

Result<int> act(const Selection& selection) {
  DTS_ASSIGN(const run::RunDirectory run, find(selection));
  DTS_ASSIGN(const sched::JobId job, job_of(run));
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  DTS_TRY(scheduler->cancel(job));
  fmt::print("cancelled job {}; to continue it later: dtsubmit requeue {}\n", job, job);
  return 0;
}

}  // namespace

void add_cancel(CLI::App& app, Invocation& invocation) {
  const auto selection = std::make_shared<Selection>();
  CLI::App* verb = app.add_subcommand("cancel", "cancel a job; its ranks get the time to save");
  add_selection(*verb, *selection, true);
  verb->callback(
      [selection, &invocation] { invocation.action = [selection] { return act(*selection); }; });
}

}  // namespace dts::cli
