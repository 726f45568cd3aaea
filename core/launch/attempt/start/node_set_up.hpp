// SPDX-License-Identifier: Apache-2.0
// Runs the job's set-up on each node, in the node's first rank, once the nodes are known to be fit.
// No program starts before all set-ups have ended. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/start/rank_places.hpp"
#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"

#include <map>
#include <string>

namespace dts::launch {

class NodeSetUp {
 public:
  NodeSetUp(const AttemptSettings& settings,
            RankTable& ranks,
            const RankPlaces& places,
            Ending& ending,
            AttemptNews& news)
      : settings_(settings), ranks_(ranks), places_(places), ending_(ending), news_(news) {}

  void begin(Time now);
  void on_ended(unsigned rank, SetUpEnded message, Time now);
  // Progress of a node that copies the files that the job stages.
  void on_staging(unsigned rank, const Staging& message, Time now);
  void on_tick(Time now);

  [[nodiscard]] bool all_done() const { return done_.size() == nodes_; }

  // Changes to the environment that apply to every rank of the node.
  [[nodiscard]] const EnvironmentChanges& changes_of(const std::string& node) const;

 private:
  void tell_staging() const;
  [[nodiscard]] plan::Environment environment_of_nodes() const;

  const AttemptSettings& settings_;
  RankTable& ranks_;
  const RankPlaces& places_;
  Ending& ending_;
  AttemptNews& news_;
  std::size_t nodes_ = 0;  // number of nodes that run a set-up
  Time limit_ = Time::max();
  std::map<std::string, EnvironmentChanges> done_;  // by node
  std::map<std::string, Staging> staging_;          // the latest, by node
  Time next_words_{};                               // when to report staging to log and ledger next
};

}  // namespace dts::launch
