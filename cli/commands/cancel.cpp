// SPDX-License-Identifier: Apache-2.0
// dtsubmit cancel: end a job; its saved state remains.
#include "cli/commands/command.hpp"
#include "cli/commands/held_signals.hpp"
#include "cli/commands/known_job.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/sweep_commands.hpp"
#include "cli/output/orders.hpp"
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
  bool json = false;
};

Result<Ordered> cancel(const run::RunDirectory& run) {
  DTS_TRY(launch::check_not_a_copy(run));
  if (launch::is_sweep(run)) return cancel_sweep(run);
  DTS_ASSIGN(const sched::JobId job, job_of(run));
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  DTS_TRY(check_cluster(*scheduler, run, job));
  const HeldSignals whole;
  DTS_TRY(report_before_signal(
      launch::cut_chain(*scheduler, run)));  // otherwise the successor would start
  auto was_there =
      report_before_signal(launch::cancel_job_of_run(*scheduler, run, job, interactive_patience()));
  if (!was_there && was_there.error().code == Errc::not_found && has_ended(run)) was_there = false;
  if (!was_there) return tl::unexpected<Error>(std::move(was_there).error());
  if (*was_there) record_cancelled_in_queue(run, job, "cancel");
  const std::string text =
      *was_there
          ? fmt::format("cancelled job {}; to continue it later: dtsubmit requeue {}\n", job, job)
          : fmt::format("job {} is over; nothing is left to cancel\n", job);
  return Ordered{.run_directory = run.path,
                 .job = job,
                 .result = *was_there ? "cancelled" : "over",
                 .text = text};
}

// Cancels each run even if another one fails; the first error decides the exit code.
Result<int> act(const CancelOptions& options) {
  int code = 0;
  OrderReport orders("cancel", options.json);
  for (const std::string& name : options.jobs) {
    const auto run = find_whole({name, options.runs});
    auto cancelled = run.and_then(cancel);
    if (cancelled) {
      cancelled->name = name;
      orders.add(*std::move(cancelled));
      continue;
    }
    Ordered failed{.name = name};
    if (run) failed.run_directory = run->path;
    if (run) failed.job = job_of(*run).value_or(sched::JobId());
    orders.add_failed(std::move(failed), cancelled.error());
    report(cancelled.error());
    if (code == 0) code = exit_code(cancelled.error().code);
  }
  orders.finish();
  return code;
}

}  // namespace

void add_cancel(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CancelOptions>();
  CLI::App* verb = app.add_subcommand("cancel", "cancel jobs; their ranks are given time to save");
  verb->add_option("job", options->jobs, "job ids, run names, run directories, or `last`")
      ->type_name("JOB")
      ->required();
  add_runs_option(*verb, options->runs);
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/cancel/1");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
