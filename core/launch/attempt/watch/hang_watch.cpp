// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/hang_watch.hpp"

#include "core/launch/attempt/watch/culprit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr seconds k_stacks_limit{30};    // for gdb on a large program
constexpr seconds k_silence_limit{120};  // a rank process reports every 30 s
constexpr seconds k_silence_look{10};

}  // namespace

void HangWatch::begin(Time now) {
  running_ = true;
  quiet_.on_sign(now);
}

bool HangWatch::all_stalled() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& one) {
    return one.second.exit_code || one.second.progress.stalled_seconds > 0;
  });
}

void HangWatch::on_progress(unsigned rank, const Progress& message, Time now) {
  RankState& state = ranks_.at(rank);
  state.progress = message;
  state.heard = now;
  const bool may_find = running_ && !hang_ && !ending_.asked_stop() && !ending_.begun();
  if (message.stalled_seconds == 0 || !may_find) return;
  // Often one rank does the output for all, so a program without heartbeats hangs only if none of
  // its ranks makes progress.
  if (message.step == 0 && !all_stalled()) return;
  hang_ = Hang{rank, message.stalled_seconds, now + k_stacks_limit};
  for (const auto& [other, its] : ranks_)
    if (!its.exit_code) ranks_.send(other, Stacks{settings_.stacks(other)});
}

void HangWatch::on_dumped(unsigned rank, const Dumped& message, Time now) {
  if (message.written) ranks_.at(rank).stacks = settings_.stacks(rank);
  dumped_.insert(rank);
  if (hang_ && std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& one) {
        return dumped_.count(one.first) > 0 || one.second.exit_code;
      }))
    end_hang(now);
}

void HangWatch::end_hang(Time now) {
  const Culprit blamed = find_culprit(ranks_, hang_->first);
  const Progress& of_first = ranks_.at(hang_->first).progress;
  const unsigned stalled = std::max(hang_->stalled, of_first.stalled_seconds);
  run::Outcome outcome{
      run::Cause::hang,
      128 + SIGKILL,
      fmt::format("no progress for {} s at step {}; {}", stalled, of_first.step, blamed.why),
      blamed.rank};
  const bool any_stacks = std::any_of(
      ranks_.begin(), ranks_.end(), [](const auto& one) { return !one.second.stacks.empty(); });
  outcome.detail += any_stacks
                        ? fmt::format("; stacks are in {}/stacks-rank-*.txt", settings_.folder())
                        : fmt::format("; no stacks were written to {}", settings_.folder());
  outcome.stalled = seconds(stalled);
  ending_.end(std::move(outcome), now);
}

// After a hang has been found, waits for the stacks. A rank process that does not even report
// counts as a hang, too.
void HangWatch::on_tick(Time now) {
  // We were suspended like all other processes, so do not count the ranks' silence.
  if (now - last_check_ > k_silence_look)
    for (auto& [rank, state] : ranks_) state.heard = now;
  last_check_ = now;
  if (hang_ && now >= hang_->give_up) return end_hang(now);
  if (hang_ || ending_.asked_stop() || now < next_silence_look_) return;
  next_silence_look_ = now + k_silence_look;
  quiet_.poll(now);
  look_for_silence(now);
}

void HangWatch::look_for_silence(Time now) {
  for (const auto& [rank, state] : ranks_)
    if (!state.exit_code && now - state.heard > k_silence_limit)
      return ending_.end(
          {run::Cause::hang,
           128 + SIGKILL,
           fmt::format("{} has not been heard of for {} s: its node or its rank process hangs",
                       ranks_.where(rank),
                       std::chrono::floor<seconds>(now - state.heard).count()),
           rank},
          now);
}

}  // namespace dts::launch
