// SPDX-License-Identifier: Apache-2.0
// The first phase of an attempt: every rank says hello. Pure, not thread-safe.
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

  // True: a new rank. Otherwise the connection should be closed.
  [[nodiscard]] bool on_hello(Peer peer, Hello&& hello, const std::string& reached_at, Time now);
  void on_refused(Peer peer, const Refused& message, Time now);

  // The functions below apply only while ranks are missing.
  void on_topology(unsigned rank, std::string text);
  void on_launcher_exit(int code, Time now);
  void on_tick(Time now);

  // Every rank has said hello and sent everything that belongs to it.
  [[nodiscard]] bool is_complete() const { return ranks_.all_here() && late_ == 0; }

  // As text, from the first rank of each node except the agent's.
  [[nodiscard]] const std::map<unsigned, std::string>& topologies() const { return topologies_; }

  [[nodiscard]] SilentNodes& silent_nodes() { return silent_; }

 private:
  // It has said hello, but something that belongs to it is missing.
  [[nodiscard]] bool is_late(unsigned rank) const;
  [[nodiscard]] std::string missing() const;  // "1,3"
  // A node that only some ranks have said hello from, while the others are overdue; empty: none.
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
