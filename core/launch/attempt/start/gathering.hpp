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

  // True: it is a new rank's. Otherwise the connection is to be closed.
  [[nodiscard]] bool on_hello(Peer peer, Hello&& hello, const std::string& reached_at, Time now);
  void on_refused(Peer peer, const Refused& message, Time now);

  // The rest only while ranks still have to come.
  void on_topology(unsigned rank, std::string text);
  void on_launcher_exit(int code, Time now);
  void on_tick(Time now);

  // Every rank has said hello, and all that belongs to it.
  [[nodiscard]] bool is_complete() const { return ranks_.all_here() && late_ == 0; }

  // As text, from the first rank of each node but the agent's.
  [[nodiscard]] const std::map<unsigned, std::string>& topologies() const { return topologies_; }

  [[nodiscard]] SilentNodes& silent_nodes() { return silent_; }

 private:
  // Has said hello, but not all that belongs to it.
  [[nodiscard]] bool is_late(unsigned rank) const;
  [[nodiscard]] std::string missing() const;  // "1,3"
  // A node of which some ranks said hello and the others should have; empty: none yet.
  [[nodiscard]] std::string incomplete_node(Time now) const;

  const AttemptSettings& settings_;
  RankTable& ranks_;
  Ending& ending_;
  AttemptNews& news_;
  Time limit_;
  unsigned late_ = 0;                           // ranks that are
  std::map<unsigned, std::string> topologies_;  // by rank
  SilentNodes silent_;
};

}  // namespace dts::launch
