// SPDX-License-Identifier: Apache-2.0
// Starts the programs of all ranks, or finds that they cannot start. A program that is missing on
// every node is the user's mistake, which a retry would repeat. If it is missing on some nodes
// only, those nodes are at fault: a share is not mounted, or a file is outdated. Pure, not
// thread-safe.
#pragma once

#include "core/launch/attempt/start/node_set_up.hpp"
#include "core/launch/attempt/start/rank_places.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace dts::launch {

class ProgramStart {
 public:
  ProgramStart(const AttemptSettings& settings,
               RankTable& ranks,
               const RankPlaces& places,
               const NodeSetUp& set_up,
               Ending& ending)
      : settings_(settings), ranks_(ranks), places_(places), set_up_(set_up), ending_(ending) {}

  // See Attempt::set_signals_reach_programs().
  void set_signals_reach_programs(bool reach) { signals_reach_programs_ = reach; }

  // `checkpoint_every`: see Go.
  void begin(const plan::Rendezvous& rendezvous, std::uint64_t checkpoint_every, Time now);
  void on_started(unsigned rank, Time now);
  // `message` is a Failed whose exit code belongs to the program.
  void on_no_program(unsigned rank, const Failed& message, Time now);
  void on_tick(Time now);

  [[nodiscard]] bool all_started() const { return started_.size() == settings_.plan.world_size; }

 private:
  [[nodiscard]] Go orders_for(const plan::Placement& placement) const;
  void judge_no_program(Time now);
  void end_no_program(Time now);
  void end_without_nodes(const std::map<std::string, unsigned>& ranks, Time now);

  const AttemptSettings& settings_;
  RankTable& ranks_;
  const RankPlaces& places_;
  const NodeSetUp& set_up_;
  Ending& ending_;
  bool signals_reach_programs_ = false;
  Time limit_;
  std::set<unsigned> started_;
  std::map<unsigned, Failed> no_program_;  // why it cannot start, by rank
  Time no_program_until_ = Time::max();    // until when a failed start waits for the other ranks
};

}  // namespace dts::launch
