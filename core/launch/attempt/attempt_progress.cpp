// SPDX-License-Identifier: Apache-2.0
// What an attempt makes of its ranks' progress: which of them holds up the others, and when they
// are all given up.
#include "core/launch/attempt/attempt.hpp"

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

void Attempt::on(unsigned rank, const Progress& message, Time now) {
  Rank& state = ranks_.at(rank);
  state.progress = message;
  state.heard = now;
  if (message.stalled_seconds == 0 || hang_ || stop_cause_ || phase_ != Phase::running) return;
  // Often one rank writes for all: a program without beats hangs where no rank of it gets on.
  if (message.step == 0 && !all_stalled()) return;
  hang_ = Hang{rank, message.stalled_seconds, now + k_stacks_limit};
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

std::uint64_t Attempt::newest_step() const {
  std::uint64_t newest = 0;
  for (const auto& [rank, state] : ranks_) newest = std::max(newest, state.progress.step);
  return newest;
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
  look_for_quiet(now);
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
