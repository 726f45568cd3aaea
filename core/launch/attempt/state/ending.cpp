// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/state/ending.hpp"

#include "core/base/text/utf8.hpp"

#include <algorithm>
#include <csignal>

namespace dts::launch {
namespace {

constexpr std::size_t k_longest_detail = 2000;
constexpr std::chrono::seconds k_kill_limit{5};

}  // namespace

void Ending::stop(run::Cause cause, Time kill_at, const std::string& detail, Time now) {
  kill_by(kill_at);
  if (stop_ || failure_ || begun_) return;
  stop_ = AskedStop{cause, detail, programs_run_};
  if (!programs_run_) return kill_all(now);
  stop_news_ = true;
  ranks_.send_alive(Stop{settings_.spec.stop_signal});
}

void Ending::blame(run::Outcome outcome) {
  if (failure_) return;
  if (outcome.rank) outcome.node = ranks_.at(*outcome.rank).node();
  // The text may quote launchers and programs.
  outcome.detail = printable(outcome.detail, k_longest_detail);
  failure_ = std::move(outcome);
}

void Ending::end(run::Outcome outcome, Time now) {
  blame(std::move(outcome));
  kill_all(now);
}

void Ending::override_end(run::Outcome outcome, Time now) {
  failure_ = std::move(outcome);
  kill_all(now);
}

void Ending::kill_all(Time now) {
  if (begun_) return;
  begun_ = true;
  give_up_at_ = now + k_kill_limit;
  for (auto& [rank, state] : ranks_) {
    if (state.exit_code || state.gone) continue;
    state.kill_sent = true;
    ranks_.send(rank, Kill{});
  }
  finish_if_all_ended();  // needed if no rank is left to kill
}

void Ending::on_tick(Time now) {
  if (now < give_up_at_ || outcome_) return;
  for (auto& [rank, state] : ranks_) {
    state.gone = true;
    if (!state.exit_code) state.exit_code = 128 + SIGKILL;
  }
  finish_if_all_ended();
}

void Ending::finish_if_all_ended() {
  if (outcome_) return;
  if (!begun_ && !ranks_.all_connected()) return;
  const auto has_ended = [](const auto& one) { return one.second.exit_code.has_value(); };
  if (!std::all_of(ranks_.begin(), ranks_.end(), has_ended)) return;
  begun_ = true;
  const EndedRanks ended(ranks_, settings_.spec.stop_signal, settings_.plan.workers_per_task > 0);
  outcome_ = ended.outcome(stop_, failure_);
  // After any other end the agent decides, and may start the next attempt on the same nodes.
  const Bye bye{stop_.has_value() || outcome_->cause == run::Cause::completed};
  for (const auto& [rank, state] : ranks_)
    if (!state.gone) ranks_.send(rank, bye);
}

}  // namespace dts::launch
