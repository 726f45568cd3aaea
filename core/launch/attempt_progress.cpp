// SPDX-License-Identifier: Apache-2.0
// What an attempt makes of its ranks' progress: which of them holds up the others, and when they
// are all given up.
#include "core/launch/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr seconds k_stacks_limit{30};    // for gdb on a large program
constexpr seconds k_silence_limit{120};  // a rank process reports every 30 s
constexpr seconds k_silence_look{10};

bool is_stopped(const std::string& state) {
  return state == "T" || state == "t";
}

}  // namespace

void Attempt::on(unsigned rank, const Progress& message, Time now) {
  Rank& state = ranks_.at(rank);
  state.progress = message;
  state.heard = now;
  if (message.stalled_seconds == 0 || hang_ || stop_cause_ || phase_ != Phase::running) return;
  hang_ = Hang{rank, now + k_stacks_limit};
  for (auto& [other, its] : ranks_)
    if (!its.exit_code)
      send(other, Stacks{fmt::format("{}/stacks-rank-{}.txt", settings_.folder, other)});
}

void Attempt::on(unsigned rank, const Dumped&, Time now) {
  ranks_.at(rank).dumped = true;
  if (hang_ && std::all_of(ranks_.begin(), ranks_.end(), [](const auto& one) {
        return one.second.dumped || one.second.exit_code;
      }))
    end_hang(now);
}

unsigned Attempt::straggler() const {
  unsigned slowest = hang_->first;
  for (const auto& [rank, state] : ranks_) {
    if (state.exit_code) continue;
    if (is_stopped(state.progress.state)) return rank;
    if (state.progress.step < ranks_.at(slowest).progress.step) slowest = rank;
  }
  return slowest;
}

void Attempt::end_hang(Time now) {
  const unsigned slowest = straggler();
  const Progress& of_first = ranks_.at(hang_->first).progress;
  const Progress& of_slowest = ranks_.at(slowest).progress;
  std::string detail =
      fmt::format("no progress for {} s at step {}", of_first.stalled_seconds, of_first.step);
  if (is_stopped(of_slowest.state))
    detail += fmt::format("; {} is stopped by a signal", where(slowest));
  else if (of_slowest.step < of_first.step)
    detail += fmt::format("; {} is behind, at step {}", where(slowest), of_slowest.step);
  else
    detail += fmt::format("; {} said so first, no rank is behind it", where(slowest));
  detail += fmt::format("; stacks are in {}/stacks-rank-*.txt", settings_.folder);
  end(run::Cause::hang, 128 + SIGKILL, std::move(detail), now, slowest);
}

// A hang that was found is waited for until the stacks are there; a rank process that does not even
// report is one of its own.
void Attempt::check_progress(Time now) {
  // We were suspended with everybody else: their silence is ours.
  if (now - last_check_ > k_silence_look)
    for (auto& [rank, state] : ranks_) state.heard = now;
  last_check_ = now;
  if (hang_ && now >= hang_->give_up) return end_hang(now);
  if (hang_ || stop_cause_) return;
  look_at_pace(now);
  if (now < next_silence_look_) return;
  next_silence_look_ = now + k_silence_look;
  for (const auto& [rank, state] : ranks_)
    if (!state.exit_code && now - state.heard > k_silence_limit)
      return end(
          run::Cause::hang,
          128 + SIGKILL,
          fmt::format("{} has not been heard of for {} s: its node or its rank process hangs",
                      where(rank),
                      std::chrono::floor<seconds>(now - state.heard).count()),
          now,
          rank);
}

}  // namespace dts::launch
