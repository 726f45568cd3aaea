// SPDX-License-Identifier: Apache-2.0
// Whose fault it is that an attempt does not get on, and what is said of one of which nothing is
// seen any more.
#include "core/launch/attempt/attempt.hpp"
#include "core/run/summary/goodput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr unsigned k_clearly_longer = 3;  // seconds; ranks report what was true at their last look

bool is_stopped(const std::string& state) {
  return state == "T" || state == "t";
}

}  // namespace

bool Attempt::all_stalled() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& one) {
    return one.second.exit_code || one.second.progress.stalled_seconds > 0;
  });
}

// Without steps to compare: the one that only waits for time to pass, or that has been without work
// longer than any other. Who waits for it came to that later, or spins.
std::optional<Attempt::Culprit> Attempt::inactive_rank() const {
  std::vector<unsigned> asleep, alive;
  for (const auto& [rank, state] : ranks_) {
    if (state.exit_code) continue;
    alive.push_back(rank);
    if (state.progress.asleep) asleep.push_back(rank);
  }
  if (asleep.size() == 1 && alive.size() > 1)
    return Culprit{asleep[0], fmt::format("{} sleeps, the others wait", where(asleep[0]))};
  const auto idle = [&](unsigned rank) { return ranks_.at(rank).progress.idle_seconds; };
  std::stable_sort(
      alive.begin(), alive.end(), [&](unsigned a, unsigned b) { return idle(a) > idle(b); });
  if (alive.size() < 2 || idle(alive[0]) < idle(alive[1]) + k_clearly_longer) return std::nullopt;
  return Culprit{alive[0],
                 fmt::format("{} has used no processor time for {} s, longer than any other",
                             where(alive[0]),
                             idle(alive[0]))};
}

Attempt::Culprit Attempt::culprit() const {
  unsigned slowest = hang_->first;
  for (const auto& [rank, state] : ranks_) {
    if (state.exit_code) continue;
    if (is_stopped(state.progress.state))
      return {rank, fmt::format("{} is stopped by a signal", where(rank))};
    if (state.progress.step < ranks_.at(slowest).progress.step) slowest = rank;
  }
  const std::uint64_t step = ranks_.at(slowest).progress.step;
  if (step < ranks_.at(hang_->first).progress.step)
    return {slowest, fmt::format("{} is behind, at step {}", where(slowest), step)};
  if (auto inactive = inactive_rank()) return *std::move(inactive);
  return {slowest, fmt::format("{} said so first, no rank is behind it", where(slowest))};
}

void Attempt::end_hang(Time now) {
  const Culprit blamed = culprit();
  const Progress& of_first = ranks_.at(hang_->first).progress;
  const unsigned stalled = std::max(hang_->stalled, of_first.stalled_seconds);
  end(run::Cause::hang,
      128 + SIGKILL,
      fmt::format("no progress for {} s at step {}; {}; stacks are in {}/stacks-rank-*.txt",
                  stalled,
                  of_first.step,
                  blamed.why,
                  settings_.folder),
      now,
      blamed.rank);
  if (failure_ && failure_->cause == run::Cause::hang) failure_->stalled = seconds(stalled);
}

// Neither a beat nor output of any rank, no checkpoint, and one rank at least has not even
// computed: said once, until something is seen again. What is done about it is --hang-timeout's.
void Attempt::look_for_quiet(Time now) {
  std::optional<unsigned> idle;
  auto quietest = now - saved_at_;
  for (const auto& [rank, state] : ranks_) {
    if (state.exit_code) continue;
    const auto since_report = now - state.heard;
    quietest =
        std::min<Time::duration>(quietest, seconds(state.progress.quiet_seconds) + since_report);
    const bool sits = seconds(state.progress.idle_seconds) + since_report >= settings_.quiet_limit;
    if (sits && !idle) idle = rank;
  }
  const bool quiet = idle && quietest >= settings_.quiet_limit;
  if (quiet == quiet_) return;
  quiet_ = quiet;
  if (!quiet) return events_.push_back({.what = run::Heard{"its programs are heard of again"}});
  const Culprit still = inactive_rank().value_or(
      Culprit{*idle, fmt::format("{} has used no processor time", where(*idle))});
  std::string words = fmt::format(
      "no output, no heartbeat and no checkpoint for {}, and {}: it "
      "may hang (dtsubmit logs --ranks all; --hang-timeout ends such a program)",
      run::duration_words(std::chrono::floor<seconds>(quietest)),
      still.why);
  events_.push_back({.what = run::Quiet{.detail = std::move(words),
                                        .rank = still.rank,
                                        .node = ranks_.at(still.rank).hello.rank.node}});
}

}  // namespace dts::launch
