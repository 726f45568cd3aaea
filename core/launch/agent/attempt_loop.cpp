// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/attempt_loop.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/signals.hpp"
#include "core/launch/health/quarantine.hpp"
#include "core/launch/job/classify.hpp"
#include "core/launch/job/slurm_commands.hpp"
#include "core/launch/job/stop_way.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/event/event_line.hpp"
#include "core/run/index/find.hpp"
#include "core/run/index/index.hpp"
#include "core/run/ledger/events.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/summary/goodput.hpp"
#include "core/topo/discover.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <csignal>
#include <future>
#include <map>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr seconds k_end_by_scheduler{90};
constexpr seconds k_record_patience{15};  // libslurm's own timeout for an unreachable controller

// How the run spent its time, for the last event of its ledger.
std::map<std::string, double> time_use(const run::RunDirectory& run,
                                       const std::vector<run::Event>& events) {
  const run::RunSummary summary = run::summarise(events, run::read_metrics(run));
  return run::in_seconds(run::account(events, summary, std::chrono::system_clock::now()).run);
}

}  // namespace

// The job must stay alive until the scheduler ends it: a batch script that exits during a
// preemption's grace time is never requeued by Slurm 22.05 to 23.11.
void AttemptLoop::wait_for_the_end() {
  told_to_end_ =
      told_to_end_ || wait_for_one_of(signals_.get(), {SIGTERM}, k_end_by_scheduler).has_value();
}

Result<int> AttemptLoop::come_back(const run::Outcome& outcome, const run::Decision& decision) {
  JobWatch::Return how;
  how.requeue = decision.action == run::Action::requeue;
  how.exclude = decision.exclude;
  how.nodes = plan_.nodes + plan_.spares;
  how.avoid = nodes_in_quarantine();  // other runs may have added nodes meanwhile
  auto successor = make_successor(run_);
  if (successor) how.successor = *std::move(successor);
  if (!successor && !how.requeue) return tl::unexpected<Error>(std::move(successor).error());
  watch_->come_back(std::move(how));
  return returned(outcome, watch_->wait_returned());
}

Result<void> AttemptLoop::note_decision(const run::Decision& decision) {
  run::Decided decided = run::decided_event(decision);
  if (run::ends_run(decision.action)) decided.seconds = time_use(run_, ledger_.events());
  return attempt_->note({.what = std::move(decided)});
}

// The decision could not be carried out: the run stops.
Result<int> AttemptLoop::end_here(const run::Outcome& outcome, std::string why) {
  DTS_TRY(note_decision({run::Action::stop, outcome.exit_code, std::move(why)}));
  return outcome.exit_code;
}

Result<int> AttemptLoop::returned(const run::Outcome& outcome,
                                  const Result<JobWatch::Returned>& answer) {
  if (!answer) {
    log("requeue: {}", answer.error().message);
    auto code =
        end_here(outcome, "the scheduler refused to run the job again: " + answer.error().message);
    // If nobody answered, Slurm may still requeue the job, as long as this process lives.
    if (answer.error().code != Errc::rejected) wait_for_the_end();
    return code;
  }
  if (!answer->avoided.empty()) log("in quarantine, not asked for: {}", answer->avoided);
  const bool same = answer->job == job_.allocation.job;
  run::Event event{.job = answer->job, .what = run::Resubmitted{answer->trouble}};
  if (same) event.what = run::Requeued{answer->trouble};
  DTS_TRY(attempt_->note(std::move(event)));
  if (same)
    wait_for_the_end();
  else
    note_successor(answer->job);
  return 0;
}

void AttemptLoop::note_successor(sched::JobId job) const {
  log("job {} continues this run", job);
  if (const auto noted = run::add_job_to_index(run_, job); !noted)
    log("not in the index of runs: {}", noted.error().message);
}

// The scheduler has requeued the job by itself, but it should not run again.
void AttemptLoop::cancel() {
  JobWatch::Return how;
  how.cancel = true;
  watch_->come_back(std::move(how));
  if (const auto gone = watch_->wait_returned(); !gone)
    log("the job is not cancelled: {}", gone.error().message);
}

run::Decision AttemptLoop::decide(const AttemptEnd& ended,
                                  const std::vector<run::Event>& events) const {
  run::Circumstances now = run::count_failures(events);
  now.in_scheduler = !options_.local;
  now.may_requeue = job_.spec.requeue;
  now.has_spares = pool_.has_spares();
  now.already_requeued = ended.requeued;
  now.stop_asked = ended.stop_asked;
  return run::decide(ended.outcome, now, job_.policy);
}

void AttemptLoop::watch_the_job() {
  const sched::JobId job = job_.allocation.job;
  const unsigned restarts = job_.allocation.restart_count;
  // Tried in a child first, because libslurm exits the process on a configuration that it rejects.
  watch_ = std::make_unique<JobWatch>(
      [] { return plugin::load_scheduler(plugin::scheduler_name(), true); },
      job,
      plan_.spares > 0,
      [job, restarts] { return slurm_by_commands(job, restarts); });
}

// The exit code if the run ends here, at least for this job; nullopt: make the next attempt.
Result<std::optional<int>> AttemptLoop::carry_out(const AttemptEnd& ended,
                                                  const run::Decision& decision) {
  switch (decision.action) {
    case run::Action::stop:
      if (ended.requeued && ended.stop_asked) cancel();
      [[fallthrough]];
    case run::Action::done:
      return decision.exit_code;
    case run::Action::restart:
      return pause(ended, decision.delay);
    case run::Action::requeue:
    case run::Action::resubmit:
      return come_back(ended.outcome, decision);
    case run::Action::wait:
      break;
  }
  wait_for_the_end();
  return 0;
}

// Waits before the next attempt.
Result<std::optional<int>> AttemptLoop::pause(const AttemptEnd& ended, seconds delay) {
  if (delay.count() > 0) log("waiting {} s", delay.count());
  const std::optional<int> signal =
      wait_for_one_of(signals_.get(), {SIGTERM, SIGINT, SIGUSR1, k_stop_request}, delay);
  if (!signal) return std::nullopt;
  if (watch_ && (*signal == SIGTERM || *signal == SIGUSR1)) return end_in_pause(*signal);
  const char* by =
      *signal == k_stop_request ? "asked for by `dtsubmit stop`" : "stopped by a signal";
  return end_here(ended.outcome,
                  fmt::format("{} before the next attempt; `dtsubmit requeue` continues it", by));
}

// A signal to end while no rank runs can also be a preemption or the time limit.
Result<std::optional<int>> AttemptLoop::end_in_pause(int signal) {
  told_to_end_ = told_to_end_ || signal == SIGTERM;
  const std::string detail = fmt::format("signal {} while no rank ran", signal);
  DTS_TRY(attempt_->note({.what = run::Warning{detail}}));
  AttemptEnd ended;
  ended.told_to_end = signal == SIGTERM;
  ended.outcome = {
      signal == SIGUSR1 ? run::Cause::time_limit : run::Cause::signalled, k_checkpointed, detail};
  if (const auto job = watch_->wait_job(k_record_patience)) {
    ended.outcome = explain_by_job(ended.outcome, *job, {job_.allocation.nodes, {}, {}, false});
    ended.requeued = is_requeued(*job);
  }
  const run::Decision decision = decide(ended, ledger_.events());
  DTS_TRY(note_decision(decision));
  log("{} ({}); {}: {}",
      detail,
      run::to_string(ended.outcome.cause),
      run::to_string(decision.action),
      decision.why);
  return carry_out(ended, decision);
}

// An attempt that a full disk keeps from beginning counts as one that ended for that reason.
Result<AttemptEnd> AttemptLoop::make_attempt() {
  const auto begun = attempt_->begin();
  if (begun) {
    auto ended = attempt_->run();
    disk_was_full_ = ended && run::kind_of(ended->outcome.cause) == run::Kind::disk;
    return ended;
  }
  if (!disk_was_full_ || begun.error().code != Errc::io)
    return tl::unexpected<Error>(begun.error());
  AttemptEnd ended;
  ended.outcome = {run::Cause::disk_full, exit_code(Errc::io), begun.error().message};
  DTS_TRY(attempt_->note({.what = run::ended_event(ended.outcome)}));
  return ended;
}

Error AttemptLoop::explained(Error failed) {
  [[maybe_unused]] const bool perhaps = presence_.look();
  if (presence_.look()) return failed;
  return {Errc::io, run::vanished_words(run_), ""};
}

void AttemptLoop::close(const Error* failed) {
  if (failed != nullptr) {
    const unsigned own = attempt_ ? attempt_->number() : 0;
    const auto cause = presence_.look() ? run::Cause::run_damaged : run::Cause::run_vanished;
    for (run::Event& event :
         run::events_of_failure(ledger_.events(), *failed, own, run::latest_attempt(run_), cause)) {
      event.job = job_.allocation.job;
      [[maybe_unused]] const auto noted = ledger_.append(std::move(event));
    }
  }
  for (const run::Event& event : ledger_.waiting())
    log("not in the ledger: {}", run::to_line(event));
}

Result<int> AttemptLoop::run() {
  terminal_.reset(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  set_second_log(terminal_.get());
  if (!options_.local) watch_the_job();
  const AttemptContext context{options_,
                               job_,
                               pool_,
                               ledger_,
                               watch_.get(),
                               signals_.get(),
                               std::async(std::launch::async, topo::discover).share()};
  while (true) {
    attempt_.emplace(context);
    DTS_ASSIGN(const AttemptEnd ended, make_attempt());
    told_to_end_ = ended.told_to_end;
    const run::Outcome& outcome = ended.outcome;
    const std::vector<run::Event> events = ledger_.events();
    const run::Decision decision = decide(ended, events);
    log("decision: {}: {}", run::to_string(decision.action), decision.why);
    DTS_TRY(note_decision(decision));
    restore_terminal();
    log("attempt {}: {} ({}); {}: {}",
        attempt_->number(),
        run::to_string(outcome.cause),
        outcome.detail,
        run::to_string(decision.action),
        decision.why);
    if (outcome.rank && !run::is_selected(options_.shown, *outcome.rank))
      print_last_words(run_, attempt_->number(), *outcome.rank);
    DTS_ASSIGN(const std::optional<int> code, carry_out(ended, decision));
    if (code) return *code;
  }
}

}  // namespace dts::launch
