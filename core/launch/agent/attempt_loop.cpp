// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/attempt_loop.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/signals.hpp"
#include "core/launch/agent/staged_nodes.hpp"
#include "core/launch/job/stop_way.hpp"
#include "core/run/ledger/events.hpp"
#include "core/run/ledger/history.hpp"
#include "core/topo/discover.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <utility>

namespace dts::launch {
namespace {

using std::chrono::seconds;

}  // namespace

// Records an event of the latest attempt, which before the first is that of an earlier agent.
Result<void> AttemptLoop::note(run::Event event) {
  if (attempt_) return attempt_->note(std::move(event));
  note_event(ledger_, job_, run::latest_attempt(run_), std::move(event));
  return {};
}

// Call it when no attempt follows on these nodes. Slurm starts no step in a job that it is ending;
// in that case the ranks themselves have removed the staged files.
void AttemptLoop::unstage_pool() {
  if (has_unstaged_ || !attempt_ || attempt_->number() == 0 || job_.spec.stage.empty()) return;
  has_unstaged_ = true;
  if (end_.kill_imminent()) return;
  unstage_nodes({job_, pool_.reachable(), options_.dtsubmit, attempt_->number(), options_.local});
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

// The exit code if the run ends here, at least for this job; nullopt if another attempt follows.
Result<std::optional<int>> AttemptLoop::carry_out(const AttemptEnd& ended,
                                                  const run::Decision& decision) {
  switch (decision.action) {
    case run::Action::stop:
      if (ended.requeued && !ended.stop_asked.empty() && !options_.part) end_.cancel();
      [[fallthrough]];
    case run::Action::done:
      return decision.exit_code;
    case run::Action::restart:
      if (options_.part && options_.part->returns_restarts) return decision.exit_code;
      return pause(ended, decision.delay);
    case run::Action::requeue:
    case run::Action::resubmit:
      if (options_.part) return decision.exit_code;
      unstage_pool();
      return end_.return_job(ended.outcome, decision);
    case run::Action::wait:
      break;
  }
  if (!options_.part) end_.wait_for_the_end();
  return 0;
}

// Launchers start the daemons on other nodes through the controller: while it is away, one launch
// after another would fail, and use up the budget, as would one in the first seconds after its
// return, when it has not heard of its nodes yet. A scheduler that this node has no way to ask is
// not waited for. Ends early for a signal, which can be read again.
void AttemptLoop::await_controller(run::Cause cause) {
  constexpr std::chrono::minutes k_longest{5};
  constexpr seconds k_turn{10};
  constexpr seconds k_settle{10};
  if (watch_ == nullptr ||
      (cause != run::Cause::launch_failed && cause != run::Cause::launcher_died))
    return;
  const auto until = std::chrono::steady_clock::now() + k_longest;
  bool was_away = false;
  while (!watch_->wait_job(k_turn) && watch_->may_answer() &&
         std::chrono::steady_clock::now() < until) {
    if (const auto error = watch_->take_error(); error && error->code == Errc::not_found) return;
    if (!std::exchange(was_away, true))
      log("the scheduler does not answer: waiting up to 5 minutes before the next launch");
    if (!waits_unasked(signals_.get(), seconds(1))) return;
  }
  [[maybe_unused]] const bool settled = !was_away || waits_unasked(signals_.get(), k_settle);
}

// Waits before the next attempt.
Result<std::optional<int>> AttemptLoop::pause(const AttemptEnd& ended, seconds delay) {
  await_controller(ended.outcome.cause);
  if (delay.count() > 0) log("waiting {} s", delay.count());
  const std::optional<SentSignal> signal =
      wait_for_one_of(signals_.get(), {SIGTERM, SIGINT, SIGUSR1, k_stop_request}, delay);
  if (!signal) return std::nullopt;
  if (watch_ && (signal->number == SIGTERM || signal->number == SIGUSR1))
    return end_during_delay(signal->number);
  const char* by = signal->number != k_stop_request     ? "stopped by a signal"
                   : signal->value == k_of_another_part ? run::k_asked_by_part
                                                        : run::k_asked_by_user;
  return end_.stop_after_error(ended.outcome,
                               fmt::format("{} before the next attempt; {} continues it",
                                           by,
                                           run::way_to_continue(!options_.local)));
}

// A termination signal that arrives while no rank runs can also mean preemption or the time limit.
Result<std::optional<int>> AttemptLoop::end_during_delay(int signal) {
  if (signal == SIGTERM) end_.set_kill_imminent(true);
  const std::string detail = fmt::format("signal {} while no rank ran", signal);
  DTS_TRY(attempt_->note({.what = run::Warning{detail}}));
  AttemptEnd ended;
  ended.kill_imminent = signal == SIGTERM;
  ended.outcome = {
      signal == SIGUSR1 ? run::Cause::time_limit : run::Cause::signalled, k_checkpointed, detail};
  ended.requeued = end_.explain(ended.outcome);
  const run::Decision decision = decide(ended, ledger_.events());
  DTS_TRY(end_.note_decision(decision));
  log("{} ({}); {}: {}",
      detail,
      run::to_string(ended.outcome.cause),
      run::to_string(decision.action),
      decision.why);
  return carry_out(ended, decision);
}

// If a full disk, or a file system that fails for longer than StoragePatience waits, keeps an
// attempt from beginning, this counts as an attempt that ended for that reason.
Result<AttemptEnd> AttemptLoop::make_attempt(const AttemptContext& context) {
  const auto begun = call_patiently(patience_, [&] {
    attempt_.emplace(context);
    return attempt_->begin();
  });
  if (begun) {
    auto ended = attempt_->run();
    disk_was_full_ = ended && run::kind_of(ended->outcome.cause) == run::Kind::disk;
    return ended;
  }
  const Error& failed = begun.error();
  const bool is_full = disk_was_full_ && failed.code == Errc::io;
  if (!is_full && !is_of_storage(failed)) return tl::unexpected<Error>(failed);
  AttemptEnd ended;
  ended.outcome = storage_outcome(failed);
  DTS_TRY(attempt_->note({.what = run::ended_event(ended.outcome)}));
  return ended;
}

Error AttemptLoop::explained(Error failed) {
  if (presence_.is_present_now()) return failed;
  return {Errc::io, run::vanished_words(run_), ""};
}

bool AttemptLoop::close(const Error* failed) {
  unstage_pool();
  if (failed != nullptr) {
    const unsigned own = attempt_ ? attempt_->number() : 0;
    const auto cause = presence_.poll() ? run::Cause::run_damaged : run::Cause::run_vanished;
    for (run::Event& event : run::events_of_failure(
             ledger_.events(), *failed, own, run::latest_attempt(run_), !options_.local, cause)) {
      event.job = job_.allocation.job;
      [[maybe_unused]] const auto noted = ledger_.append(std::move(event));
    }
  }
  constexpr seconds k_patience{5};
  StoragePatience patience(signals_.get(), end_.kill_imminent() ? seconds(0) : k_patience);
  [[maybe_unused]] const auto written = call_patiently(patience, [&] { return ledger_.flush(); });
  return close_ledger(ledger_, options_);
}

Result<int> AttemptLoop::run() {
  terminal_.keep();
  if (!options_.local) watch_ = watch_job(job_.allocation, plan_.spares > 0);
  end_.use(watch_.get(), !options_.part);
  DTS_ASSIGN(const std::optional<int> stopped, end_.end_stopped());
  if (stopped) return *stopped;
  const AttemptContext context{options_,
                               job_,
                               pool_,
                               ledger_,
                               watch_.get(),
                               signals_.get(),
                               patience_,
                               std::async(std::launch::async, topo::discover).share()};
  while (true) {
    DTS_ASSIGN(const AttemptEnd ended, make_attempt(context));
    end_.set_kill_imminent(ended.kill_imminent);
    const run::Outcome& outcome = ended.outcome;
    const std::vector<run::Event> events = ledger_.events();
    const run::Decision decision = decide(ended, events);
    log("decision: {}: {}", run::to_string(decision.action), decision.why);
    DTS_TRY(end_.note_decision(decision));
    terminal_.restore();
    log("{}: {} ({}); {}: {}",
        attempt_->number() == 0 ? "no attempt could begin"
                                : fmt::format("attempt {}", attempt_->number()),
        run::to_string(outcome.cause),
        outcome.detail,
        run::to_string(decision.action),
        decision.why);
    print_last_words(run_, attempt_->number(), outcome, options_.shown);
    DTS_ASSIGN(const std::optional<int> code, carry_out(ended, decision));
    if (code) return *code;
  }
}

}  // namespace dts::launch
