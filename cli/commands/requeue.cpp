// SPDX-License-Identifier: Apache-2.0
// dtsubmit requeue: restart a job from its newest checkpoint, in the same run directory.
#include "cli/commands/command.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/settle.hpp"
#include "cli/commands/sweep_commands.hpp"
#include "core/base/files/files.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/ledger/newest_job.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace dts::cli {
namespace {

void print_resumed(const launch::Resumed& resumed, sched::JobId before) {
  using By = launch::Resumed::By;
  const sched::JobId job = resumed.job;
  switch (resumed.by) {
    case By::requeue:
      fmt::print("requeued job {}\n", job);
      break;
    case By::queue:
      fmt::print("job {} is already waiting in the queue\n", job);
      break;
    case By::submission:
      if (before.empty())
        fmt::print("submitted job {}\n", job);
      else
        fmt::print("job {} is over; submitted job {} to continue it\n", before, job);
      break;
    case By::another:
      fmt::print("job {} already continues the run: another requeue was faster\n", job);
      break;
  }
  fmt::print("follow it: dtsubmit logs -f {}\n", job);
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

Result<int> requeue_run(const run::RunDirectory& run,
                        std::chrono::system_clock::time_point asked_at) {
  DTS_ASSIGN(const run::Ledger ledger, run::load_ledger(run.ledger()));
  warn_of_damage(run, ledger);
  DTS_TRY(check_unfinished(run, ledger.events));
  const auto job = job_of(run);
  if (!job && !exists(run.script())) return tl::unexpected<Error>(job.error());
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  const HeldSignals whole;
  DTS_ASSIGN(
      const launch::Resumed resumed,
      told_in_time(launch::run_again(
          *scheduler, run, "asked for by `dtsubmit requeue`", asked_at, patience_with_words())));
  if (resumed.job != job.value_or(sched::JobId())) note_in_index(run, resumed.job);
  print_resumed(resumed, job.value_or(sched::JobId()));
  std::fflush(stdout);
  return 0;
}

Result<int> act(const Selection& selection) {
  const auto asked_at = std::chrono::system_clock::now();
  DTS_ASSIGN(const run::RunDirectory run, find_whole(selection));
  const auto order = [&](const run::RunDirectory& one) { return requeue_run(one, asked_at); };
  return launch::is_sweep(run) ? each_element(run, Which::unfinished, order) : order(run);
}

}  // namespace

void add_requeue(CLI::App& app, Invocation& invocation) {
  const auto selection = std::make_shared<Selection>();
  CLI::App* verb = app.add_subcommand("requeue", "run a job again from its newest checkpoint");
  add_selection(*verb, *selection, Naming::required);
  verb->callback(
      [selection, &invocation] { invocation.action = [selection] { return act(*selection); }; });
}

}  // namespace dts::cli
