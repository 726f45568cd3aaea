// SPDX-License-Identifier: Apache-2.0
// dtsubmit requeue: restart a job from its newest checkpoint, in the same run directory.
#include "cli/commands/change_run.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/held_signals.hpp"
#include "cli/commands/known_job.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/submission.hpp"
#include "cli/commands/sweep_commands.hpp"
#include "cli/output/orders.hpp"
#include "core/base/files/files.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/ledger/newest_job.hpp"
#include "core/sched/phrases.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace dts::cli {
namespace {

struct RequeueOptions {
  Selection selection;
  JobOptions job;
  bool json = false;
};

// `size` is empty unless the options changed.
std::string submitted_text(sched::JobId job, sched::JobId before, const std::string& size) {
  if (!size.empty()) return fmt::format("submitted job {} to continue the run: {}\n", job, size);
  if (before.empty()) return fmt::format("submitted job {}\n", job);
  return fmt::format("job {} is over; submitted job {} to continue it\n", before, job);
}

std::string waiting_text(const launch::Resumed& resumed) {
  std::string text = fmt::format("job {} is already waiting in the queue{}{}\n",
                                 resumed.job,
                                 resumed.waits.empty() ? "" : ": ",
                                 resumed.waits);
  if (!resumed.advice.empty())
    text += fmt::format("next: {}\n", sched::with_job(resumed.advice, resumed.job));
  return text;
}

Ordered ordered_of(const run::RunDirectory& run,
                   const launch::Resumed& resumed,
                   sched::JobId before,
                   const std::string& size) {
  using By = launch::Resumed::By;
  const sched::JobId job = resumed.job;
  Ordered ordered{.run_directory = run.path, .job = job};
  switch (resumed.by) {
    case By::requeue:
      ordered.result = "requeued";
      ordered.text = fmt::format("requeued job {}\n", job);
      break;
    case By::queue:
      ordered.result = "waiting";
      ordered.detail = resumed.waits;
      ordered.text = waiting_text(resumed);
      break;
    case By::submission:
      ordered.result = "submitted";
      ordered.text = submitted_text(job, before, size);
      break;
    case By::another:
      ordered.result = "other_requeue";
      ordered.text =
          fmt::format("job {} already continues the run: another requeue was faster\n", job);
      break;
  }
  ordered.text += fmt::format("follow it: dtsubmit logs -f {}\n", job);
  return ordered;
}

// Requeuing a finished run would start a job that ends at once.
Result<void> check_unfinished(const run::RunDirectory& run, const std::vector<run::Event>& events) {
  if (!run::is_done(events)) return {};
  return fail(Errc::invalid,
              fmt::format("{} has been complete since {}: nothing is left to run",
                          run.path,
                          run::final_decision(events)->time),
              "submit the program again to run it from the beginning");
}

// The result of a request that was carried out, and the job's size if its options changed.
struct Continued {
  launch::Resumed resumed;
  std::string size;
};

Result<Continued> continue_run(sched::Scheduler& scheduler,
                               const run::RunDirectory& run,
                               const JobOptions& options,
                               std::chrono::system_clock::time_point asked_at) {
  std::string why = "asked for by `dtsubmit requeue`";
  const bool is_moved = launch::earlier_folder(run).has_value();
  // A moved run needs another script, which a requeue does not give its job.
  if (!changes_run(options) && !is_moved) {
    const HeldSignals whole;
    DTS_ASSIGN(launch::Resumed resumed,
               report_before_signal(
                   launch::run_again(scheduler, run, why, asked_at, interactive_patience())));
    return Continued{std::move(resumed), ""};
  }
  const auto cluster_for = [&](const spec::JobSpec& spec) {
    return look_at_site(scheduler, charged_for(spec)).map([](Site site) { return site.cluster; });
  };
  DTS_ASSIGN(RunChange change, change_run(run, options, cluster_for, Destination::scheduler));
  if (is_moved) why += " in " + run.path;
  if (!change.words.empty()) why += " with " + change.words;
  const HeldSignals whole;
  DTS_ASSIGN(launch::Resumed resumed,
             report_before_signal(launch::run_again_with(
                 scheduler, run, change.files, why, asked_at, interactive_patience())));
  return Continued{std::move(resumed), std::move(change.size)};
}

Result<int> requeue_run(const run::RunDirectory& run,
                        const JobOptions& options,
                        std::chrono::system_clock::time_point asked_at,
                        OrderReport& report) {
  DTS_ASSIGN(const run::Ledger ledger, run::load_ledger(run.ledger()));
  warn_of_damage(run, ledger);
  DTS_TRY(check_unfinished(run, ledger.events));
  const auto job = job_of(run);
  if (!job && !exists(run.script())) return tl::unexpected<Error>(job.error());
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  if (job) DTS_TRY(check_cluster(*scheduler, run, *job));
  DTS_ASSIGN(const Continued continued, continue_run(*scheduler, run, options, asked_at));
  const launch::Resumed& resumed = continued.resumed;
  if (resumed.job != job.value_or(sched::JobId())) note_in_index(run, resumed.job);
  report.add(ordered_of(run, resumed, job.value_or(sched::JobId()), continued.size));
  return 0;
}

Result<int> act(const RequeueOptions& options, const std::vector<std::string>& command) {
  DTS_TRY(check_no_program(command));
  const auto asked_at = std::chrono::system_clock::now();
  DTS_ASSIGN(const run::RunDirectory run, find_whole(options.selection));
  DTS_TRY(launch::check_not_a_copy(run));
  OrderReport report("requeue", options.json);
  return order_each(run, ElementFilter::unfinished, report, [&](const run::RunDirectory& one) {
    return requeue_run(one, options.job, asked_at, report);
  });
}

}  // namespace

void add_requeue(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RequeueOptions>();
  CLI::App* verb = app.add_subcommand("requeue", "run a job again from its newest checkpoint");
  verb->footer(
      "An option of `dtsubmit submit` replaces that of the run: `dtsubmit requeue 7 --nodes 2`. "
      "The "
      "run then continues in a new job.");
  add_selection(*verb, options->selection, Naming::required);
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/requeue/1");
  options->job.is_listed = false;
  options->job.without = {"--runs"};
  add_options(*verb, spec::Group::job, options->job, invocation);
  add_options(*verb, spec::Group::slurm, options->job, invocation);
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
