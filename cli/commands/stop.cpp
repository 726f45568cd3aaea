// SPDX-License-Identifier: Apache-2.0
// dtsubmit stop: make a run save and exit.
#include "cli/commands/command.hpp"
#include "cli/commands/follow.hpp"
#include "cli/commands/held_signals.hpp"
#include "cli/commands/known_job.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/sweep_commands.hpp"
#include "cli/output/orders.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/chain.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/launch/job/stop_way.hpp"
#include "core/plugin/scheduler.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

namespace dts::cli {
namespace {

using launch::StopWay;

constexpr std::chrono::milliseconds k_end_query_interval{200};
// While an agent starts or decides, or its job is suspended.
constexpr std::chrono::seconds k_patience{60};

struct StopOptions {
  Selection selection;
  bool wait = false;
  bool json = false;
};

// Repeats `look`, which returns a way to stop and its data, until the way is not `wait`.
template <class Look>
auto look_until_clear(const Look& look) -> decltype(look()) {
  const auto until = std::chrono::steady_clock::now() + k_patience;
  while (true) {
    auto seen = look();
    if (!seen || seen->way != StopWay::wait || std::chrono::steady_clock::now() > until)
      return seen;
    std::this_thread::sleep_for(k_end_query_interval);
  }
}

std::string request_text(const std::string& whom, const std::string& how) {
  return fmt::format("asked {} to save and end; to continue it later: dtsubmit {}\n", whom, how);
}

struct Seen {
  StopWay way = StopWay::wait;
  bool suspended = false;
  sched::JobId job{};
  run::Lease lease{};
  std::size_t events = 0;
};

Result<Seen> look_at_job(sched::Scheduler& scheduler, const run::RunDirectory& run) {
  Seen seen;
  DTS_ASSIGN(seen.job, job_of(run));
  const auto job = launch::job_of_run(scheduler, run, seen.job);
  // Read after the scheduler's answer, since the agent may write until then.
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  seen.events = events.size();
  if (!job && job.error().code == Errc::not_found) {
    seen.way = StopWay::nothing;
    return seen;
  }
  if (!job) return tl::unexpected<Error>(job.error());
  seen.way = launch::stop_way(events, *job, run::latest_lease(run));
  seen.suspended = job->state == sched::JobState::suspended;
  return seen;
}

tl::unexpected<Error> suspended(sched::JobId job) {
  return fail(Errc::unreachable,
              fmt::format("job {} is suspended, and no signal reaches it until it runs again", job),
              fmt::format("try again later; dtsubmit cancel {} ends it now, and what it has not "
                          "saved is lost",
                          job));
}

Result<int> stop_job(const run::RunDirectory& run, bool wait, OrderReport& report) {
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  if (const auto job = job_of(run)) DTS_TRY(check_cluster(*scheduler, run, *job));
  DTS_ASSIGN(const Seen first, look_at_job(*scheduler, run));
  if (first.suspended)
    tell("job {} is suspended; waiting for up to {} s until it runs\n",
         first.job,
         k_patience.count());
  DTS_ASSIGN(const Seen seen, look_until_clear([&] { return look_at_job(*scheduler, run); }));
  Ordered ordered{.run_directory = run.path, .job = seen.job};
  switch (seen.way) {
    case StopWay::nothing:
      ordered.result = "over";
      ordered.text = fmt::format("job {} is over; nothing is left to stop\n", seen.job);
      report.add(ordered);
      return 0;
    case StopWay::cancel:
      DTS_TRY(launch::cut_chain(*scheduler, run));
      DTS_TRY(launch::cancel_job_of_run(*scheduler, run, seen.job, interactive_patience()));
      record_cancelled_in_queue(run, seen.job, "stop");
      ordered.result = "cancelled";
      ordered.text = fmt::format(
          "job {} was waiting in the queue and is cancelled; to continue it later: dtsubmit "
          "requeue {}\n",
          seen.job,
          seen.job);
      report.add(ordered);
      return 0;
    case StopWay::wait:
      return seen.suspended
                 ? suspended(seen.job)
                 : fail(Errc::unreachable,
                        fmt::format("job {} is running, but its agent has not started", seen.job),
                        fmt::format("try again, or: dtsubmit cancel {}", seen.job));
    case StopWay::signal:
      break;
  }
  {
    const HeldSignals whole;
    DTS_TRY(report_before_signal(sched::signal_for_certain(
        *scheduler, seen.job, launch::k_stop_request, interactive_patience())));
  }
  ordered.result = "asked";
  ordered.text = request_text(fmt::format("job {}", seen.job), fmt::format("requeue {}", seen.job));
  report.add(ordered);
  if (!wait) return 0;
  report.finish();
  return follow_job(
      *scheduler, run, seen.job, seen.events, still_saves_words("the job", seen.job.text()));
}

Result<Seen> look_here(const run::RunDirectory& run) {
  Seen seen;
  const auto lease = run::read_lease(run, run::latest_attempt(run));
  const run::Holder holder = lease ? run::holder_of(*lease) : run::Holder::gone;
  if (holder == run::Holder::elsewhere)
    return fail(Errc::not_found,
                fmt::format("{} was started on {}, not here", run.path, lease->node),
                "run the same command there");
  if (lease) seen.lease = *lease;
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  seen.events = events.size();
  seen.way = launch::stop_way(events, holder);
  return seen;
}

Result<int> stop_here(const run::RunDirectory& run, bool wait, OrderReport& report) {
  DTS_ASSIGN(const Seen seen, look_until_clear([&] { return look_here(run); }));
  if (seen.way == StopWay::wait)
    return fail(Errc::io, "the agent of " + run.path + " neither starts nor ends", "try again");
  const bool sent =
      seen.way == StopWay::signal && ::kill(seen.lease.pid, launch::k_stop_request) == 0;
  if (!sent && seen.way == StopWay::signal && errno != ESRCH)
    return fail_errno(fmt::format("cannot signal the agent of {}", run.path));
  if (!sent) {
    report.add({.run_directory = run.path,
                .result = "over",
                .text = run.path + " is over; nothing is left to stop\n"});
    return 0;
  }
  report.add({.run_directory = run.path,
              .result = "asked",
              .text = request_text(run.path, "run --continue " + shell_quote(run.path))});
  if (!wait) return 0;
  report.finish();
  return follow_local(run, seen.lease, seen.events, still_saves_words("the run", ""));
}

Result<int> stop_run(const run::RunDirectory& run, bool wait, OrderReport& report) {
  const auto job = job_of(run);
  if (job) return stop_job(run, wait, report);
  if (job.error().code == Errc::not_found) return stop_here(run, wait, report);
  return tl::unexpected<Error>(job.error());
}

Result<int> act(const StopOptions& options) {
  DTS_ASSIGN(const run::RunDirectory run, find_whole(options.selection));
  DTS_TRY(launch::check_not_a_copy(run));
  OrderReport report("stop", options.json);
  const bool is_sweep = launch::is_sweep(run);
  DTS_ASSIGN(int code,
             order_each(run, ElementFilter::alive, report, [&](const run::RunDirectory& one) {
               return stop_run(one, options.wait && !is_sweep, report);
             }));
  if (is_sweep && options.wait) {
    DTS_ASSIGN(code, follow_sweep(run, still_saves_words("the sweep", shell_quote(run.path))));
  }
  return code;
}

}  // namespace

void add_stop(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<StopOptions>();
  CLI::App* verb = app.add_subcommand("stop", "make a run save and end; `requeue` continues it");
  add_selection(*verb, options->selection, Naming::required);
  verb->add_flag("--wait", options->wait, "wait until it has ended; exit with the job's own code");
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/stop/1");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
