// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/state/rank_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {

void RankTable::add(Peer peer, Hello hello, const std::string& reached_at, Time now) {
  const unsigned rank = hello.rank.rank;
  rank_of_[peer] = rank;
  ranks_[rank] = RankState{peer, std::move(hello), reached_at};
  last_hello_ = now;
}

std::optional<unsigned> RankTable::rank_of(Peer peer) const {
  const auto known = rank_of_.find(peer);
  if (known == rank_of_.end()) return std::nullopt;
  return known->second;
}

std::string RankTable::where(unsigned rank) const {
  return fmt::format("rank {} on {}", rank, ranks_.at(rank).node());
}

std::uint64_t RankTable::newest_step() const {
  std::uint64_t newest = 0;
  for (const auto& [rank, state] : ranks_) newest = std::max(newest, state.progress.step);
  return newest;
}

void RankTable::send(unsigned rank, ToRank message) {
  messages_.emplace_back(ranks_.at(rank).peer, std::move(message));
}

void RankTable::send_alive(const ToRank& message) {
  for (const auto& [rank, state] : ranks_)
    if (!state.exit_code) send(rank, message);
}

}  // namespace dts::launch
