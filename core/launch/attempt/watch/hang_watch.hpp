// SPDX-License-Identifier: Apache-2.0
// Detects that a running attempt makes no progress, finds the rank that holds up the others, has
// stacks dumped, and decides when to give up all ranks. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"
#include "core/launch/attempt/watch/quiet_watch.hpp"

#include <cstdint>
#include <optional>
#include <set>

namespace dts::launch {

class HangWatch {
 public:
  HangWatch(const AttemptSettings& settings, RankTable& ranks, Ending& ending, AttemptNews& news)
      : settings_(settings), ranks_(ranks), ending_(ending), quiet_(settings, ranks, news) {}

  // Call it when all ranks run.
  void begin(Time now);
  void on_progress(unsigned rank, const Progress& message, Time now);
  void on_dumped(unsigned rank, const Dumped& message, Time now);

  // A new checkpoint was seen.
  void on_checkpoint(Time now) { quiet_.on_sign(now); }

  // Call it once all ranks run.
  void on_tick(Time now);

  // True if a rank has reported a hang; then the attempt ends as soon as the stacks are dumped.
  [[nodiscard]] bool has_found() const { return hang_.has_value(); }

 private:
  struct Hang {
    unsigned first = 0;    // the first rank that reported it
    unsigned stalled = 0;  // seconds, as that rank reported
    Time give_up;          // until then we wait for stacks
  };

  [[nodiscard]] bool all_stalled() const;
  void end_hang(Time now);
  void look_for_silence(Time now);

  const AttemptSettings& settings_;
  RankTable& ranks_;
  Ending& ending_;
  QuietWatch quiet_;
  bool running_ = false;
  std::optional<Hang> hang_;
  std::set<unsigned> dumped_;  // ranks whose stacks have been dumped
  Time last_check_;
  Time next_silence_look_;
};

}  // namespace dts::launch
