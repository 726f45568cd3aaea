// SPDX-License-Identifier: Apache-2.0
// Whether a running attempt makes progress: which rank holds up the others, whose stacks are
// dumped, and when all ranks are given up. Pure, not thread-safe.
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
  void on_dumped(unsigned rank, Time now);

  // A new checkpoint was seen.
  void on_checkpoint(Time now) { quiet_.on_sign(now); }

  // Call it once all ranks run.
  void on_tick(Time now);

  // A rank has reported a hang: the end only waits for the stacks.
  [[nodiscard]] bool has_found() const { return hang_.has_value(); }

 private:
  struct Hang {
    unsigned first = 0;    // the first rank that reported it
    unsigned stalled = 0;  // seconds, as it reported
    Time give_up;          // waiting for the stacks
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
