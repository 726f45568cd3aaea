// SPDX-License-Identifier: Apache-2.0
// The ranks of an attempt that have said hello: their identity and progress, and the messages
// queued for them. State that only one phase needs belongs to that phase.
#pragma once

#include "core/launch/attempt/state/attempt_clock.hpp"
#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/wire/protocol.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

struct RankState {
  Peer peer = -1;
  Hello hello{};
  std::string reached_at{};  // the agent's address that the rank connected to
  Progress progress{};       // the latest
  Time heard{};              // when it last reported its program's start or progress
  std::optional<int> exit_code{};
  bool gone = false;               // its connection is closed
  bool done = false;               // as the program reported, see BeatPage
  bool ended_unrequested = false;  // without a stop request before
  bool kill_sent = false;
  bool has_torchrun = false;  // its program started one
  bool looked_at = false;     // its time was nearly up, and its stacks were requested
  std::string stacks{};       // the file that they were written to; empty: none

  [[nodiscard]] const std::string& node() const { return hello.rank.node; }
};

class RankTable {
 public:
  RankTable(unsigned world_size, Time began)
      : world_size_(world_size), began_(began), last_hello_(began) {}

  void add(Peer peer, Hello hello, const std::string& reached_at, Time now);

  // Call it when the connection is closed: its number may be reused for another.
  void forget(Peer peer) { rank_of_.erase(peer); }

  [[nodiscard]] std::optional<unsigned> rank_of(Peer peer) const;

  [[nodiscard]] bool contains(unsigned rank) const { return ranks_.count(rank) != 0; }

  [[nodiscard]] bool all_connected() const { return ranks_.size() >= world_size_; }

  [[nodiscard]] bool empty() const { return ranks_.empty(); }

  [[nodiscard]] std::size_t size() const { return ranks_.size(); }

  [[nodiscard]] RankState& at(unsigned rank) { return ranks_.at(rank); }

  [[nodiscard]] const RankState& at(unsigned rank) const { return ranks_.at(rank); }

  // Iterates over (rank, RankState), sorted by rank.
  [[nodiscard]] auto begin() { return ranks_.begin(); }

  [[nodiscard]] auto end() { return ranks_.end(); }

  [[nodiscard]] auto begin() const { return ranks_.begin(); }

  [[nodiscard]] auto end() const { return ranks_.end(); }

  [[nodiscard]] std::string where(unsigned rank) const;  // "rank 3 on n1"

  // The highest step in any heartbeat; 0: no steps reported.
  [[nodiscard]] std::uint64_t newest_step() const;

  [[nodiscard]] Time last_hello() const { return last_hello_; }

  // Time from the start of the attempt to the latest hello.
  [[nodiscard]] Time::duration arrival() const { return last_hello_ - began_; }

  void send(unsigned rank, ToRank message);
  // Sends to all ranks whose program has not ended.
  void send_alive(const ToRank& message);

  // The queued messages in order; empties the queue.
  [[nodiscard]] std::vector<std::pair<Peer, ToRank>> take_messages() {
    return std::exchange(messages_, {});
  }

 private:
  unsigned world_size_;
  Time began_;
  Time last_hello_;
  std::map<unsigned, RankState> ranks_;  // by rank
  std::map<Peer, unsigned> rank_of_;
  std::vector<std::pair<Peer, ToRank>> messages_;
};

}  // namespace dts::launch
