// SPDX-License-Identifier: Apache-2.0
// The pace of an attempt's ranks: how often to advise them to save, when they must save before the
// job's time is up, and which ranks to report as slow. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"
#include "core/launch/attempt/watch/checkpoint_advice.hpp"
#include "core/launch/attempt/watch/straggler.hpp"

#include <cstdint>
#include <set>

namespace dts::launch {

class JobPace {
 public:
  JobPace(const AttemptSettings& settings, RankTable& ranks, Ending& ending, AttemptNews& news)
      : settings_(settings),
        ranks_(ranks),
        ending_(ending),
        news_(news),
        advice_(settings.plan.nodes, settings.record) {}

  // How long a save takes, measured in this attempt, or otherwise in the previous one; 0: not
  // known.
  [[nodiscard]] Seconds save_time() const;

  // Milliseconds between two checkpoints, from what earlier attempts measured; 0: nothing is known.
  // Call it once, before programs start.
  [[nodiscard]] std::uint64_t first_advice();

  // Call it when all ranks run. The other functions have an effect only from then on.
  void begin(Time now) { running_since_ = now; }

  void on_tick(Time now);
  // See Attempt::on_time_left().
  void on_time_left(Seconds left, Time now);

 private:
  // The largest value of one time in the paces of all ranks; 0: none reported.
  [[nodiscard]] Seconds longest(std::uint64_t Pace::*what) const;
  void name_stragglers();
  void name(const Straggler& slow);

  const AttemptSettings& settings_;
  RankTable& ranks_;
  Ending& ending_;
  AttemptNews& news_;
  Time running_since_;
  Time next_poll_;
  CheckpointAdvice advice_;
  StragglerWatch stragglers_;
  std::set<unsigned> named_;  // stragglers that the ledger already names
};

}  // namespace dts::launch
