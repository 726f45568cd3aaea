// SPDX-License-Identifier: Apache-2.0
// The first phase of an attempt, in which every rank says hello. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/start/silent_nodes.hpp"
#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"

#include <map>
#include <string>
#include <vector>

namespace dts::launch {

class Gathering {
 public:
  Gathering(const AttemptSettings& settings,
            RankTable& ranks,
            Ending& ending,
            AttemptNews& news,
            Time now);

  // Returns true for a new rank; otherwise the connection should be closed.
  [[nodiscard]] bool on_hello(Peer peer, Hello&& hello, const std::string& reached_at, Time now);
  void on_refused(Peer peer, const Refused& message, Time now);

  // The functions below have an effect only while ranks are missing.
  void on_topology(unsigned rank, std::string text);
  void on_launcher_exit(int code, Time now);
  void on_tick(Time now);

  // True if every rank has said hello and sent all messages that must follow.
  [[nodiscard]] bool is_complete() const { return ranks_.all_connected() && late_ == 0; }

  // By rank: the topology as text that the first rank of each node sent. The agent's node is
  // absent.
  [[nodiscard]] const std::map<unsigned, std::string>& topologies() const { return topologies_; }

  [[nodiscard]] SilentNodes& silent_nodes() { return silent_; }

 private:
  // True if the rank has said hello, but a message that must follow is missing.
  [[nodiscard]] bool is_late(unsigned rank) const;
  [[nodiscard]] std::string missing() const;  // "1,3"
  // A node with ranks that have said hello and ranks that are overdue; empty: there is none.
  [[nodiscard]] std::string incomplete_node(Time now) const;

  const AttemptSettings& settings_;
  RankTable& ranks_;
  Ending& ending_;
  AttemptNews& news_;
  Time limit_;
  unsigned late_ = 0;                           // ranks for which is_late()
  std::map<unsigned, std::string> topologies_;  // by rank
  SilentNodes silent_;
};

}  // namespace dts::launch
