// SPDX-License-Identifier: Apache-2.0
// dtsubmit cancel: end a job; its saved state remains.
#include "cli/commands/command.hpp"
#include "cli/commands/held_signals.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/sweep_commands.hpp"
#include "cli/output/report.hpp"
#include "core/launch/job/chain.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/plugin/scheduler.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace dts::cli {
namespace {

struct CancelOptions {
  std::vector<std::string> jobs;
  std::string runs = Selection{}.runs;
};

Result<void> cancel(const Selection& selection) {
  DTS_ASSIGN(const run::RunDirectory run, find_whole(selection));
  if (launch::is_sweep(run)) return cancel_sweep(run);
  DTS_ASSIGN(const sched::JobId job, job_of(run));
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  const HeldSignals whole;
  DTS_TRY(report_before_signal(
      launch::cut_chain(*scheduler, run)));  // otherwise the successor would start
  DTS_TRY(report_before_signal(
      launch::cancel_job_of_run(*scheduler, run, job, interactive_patience())));
  fmt::print("cancelled job {}; to continue it later: dtsubmit requeue {}\n", job, job);
  return {};
}

// Cancels each run even if another one fails; the first error decides the exit code.
Result<int> act(const CancelOptions& options) {
  Result<void> first;
  for (const std::string& job : options.jobs) {
    const auto cancelled = cancel({job, options.runs});
    if (cancelled) continue;
    if (first)
      first = cancelled;
    else
      report(cancelled.error());
  }
  return first.map([] { return 0; });
}

}  // namespace

void add_cancel(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CancelOptions>();
  CLI::App* verb = app.add_subcommand("cancel", "cancel jobs; their ranks are given time to save");
  verb->add_option("job", options->jobs, "job ids, run names, run directories, or `last`")
      ->type_name("JOB")
      ->required();
  add_runs_option(*verb, options->runs);
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
