// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/culprit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace dts::launch {
namespace {

constexpr unsigned k_clearly_longer = 3;  // seconds; ranks report the state at their last look

bool is_stopped(const std::string& state) {
  return state == "T" || state == "t";
}

// Without steps to compare: the only rank that uses the processor while all others wait, as in an
// endless loop. In a pair this proves nothing: the busy rank may be the one that waits, spinning in
// MPI.
std::optional<Culprit> busy_rank(const RankTable& ranks) {
  std::vector<std::pair<unsigned, unsigned>> alive;  // idle seconds, rank
  for (const auto& [rank, state] : ranks) {
    if (state.exit_code) continue;
    if (state.progress.asleep) return std::nullopt;
    alive.emplace_back(state.progress.idle_seconds, rank);
  }
  std::sort(alive.begin(), alive.end());
  if (alive.size() < 3 || alive[1].first < alive[0].first + k_clearly_longer) return std::nullopt;
  const unsigned rank = alive[0].second;
  return Culprit{rank, fmt::format("{} uses the processor, the others wait", ranks.where(rank))};
}

}  // namespace

// Without steps to compare: the rank that only sleeps, or that has been idle for longer than any
// other. Ranks that wait for it became idle later, or spin.
std::optional<Culprit> inactive_rank(const RankTable& ranks) {
  std::vector<unsigned> asleep, alive;
  for (const auto& [rank, state] : ranks) {
    if (state.exit_code) continue;
    alive.push_back(rank);
    if (state.progress.asleep) asleep.push_back(rank);
  }
  if (asleep.size() == 1 && alive.size() > 1)
    return Culprit{asleep[0], fmt::format("{} sleeps, the others wait", ranks.where(asleep[0]))};
  const auto idle = [&](unsigned rank) { return ranks.at(rank).progress.idle_seconds; };
  std::stable_sort(
      alive.begin(), alive.end(), [&](unsigned a, unsigned b) { return idle(a) > idle(b); });
  if (alive.size() < 2 || idle(alive[0]) < idle(alive[1]) + k_clearly_longer) return std::nullopt;
  return Culprit{alive[0],
                 fmt::format("{} has used no processor time for {} s, longer than any other",
                             ranks.where(alive[0]),
                             idle(alive[0]))};
}

Culprit find_culprit(const RankTable& ranks, unsigned first) {
  unsigned slowest = first;
  for (const auto& [rank, state] : ranks) {
    if (state.exit_code) continue;
    if (is_stopped(state.progress.state))
      return {rank, fmt::format("{} is stopped by a signal", ranks.where(rank))};
    if (state.progress.step < ranks.at(slowest).progress.step) slowest = rank;
  }
  const std::uint64_t step = ranks.at(slowest).progress.step;
  if (step < ranks.at(first).progress.step)
    return {slowest, fmt::format("{} is behind, at step {}", ranks.where(slowest), step)};
  if (auto busy = busy_rank(ranks)) return *std::move(busy);
  if (auto inactive = inactive_rank(ranks)) return *std::move(inactive);
  return {slowest,
          fmt::format("{} reported it first, and no rank is behind it", ranks.where(slowest))};
}

}  // namespace dts::launch
