// SPDX-License-Identifier: Apache-2.0
// Watches launchers that the program has started itself, see second_launcher.hpp, and ends an
// attempt whose ranks exist twice. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"
#include "core/launch/attempt/watch/second_launcher.hpp"

namespace dts::launch {

class SecondLauncherWatch {
 public:
  SecondLauncherWatch(const plan::Plan& plan, const RankTable& ranks, Ending& ending)
      : plan_(plan), ranks_(ranks), ending_(ending) {}

  void on_launched(unsigned rank, const Launched& message, Time now);
  void on_exited(unsigned rank, int code, Time now);
  // A rank failed in a way for which another launcher may be the cause.
  void judge_failed(unsigned rank, Time now);
  void on_tick(Time now);

  [[nodiscard]] bool any_below(unsigned rank) const { return launchers_.any_below(rank); }

 private:
  void judge(Time now);
  void end(const RanksTwice& twice, Time now);

  const plan::Plan& plan_;
  const RankTable& ranks_;
  Ending& ending_;
  SecondLaunchers launchers_;
  Time twice_at_ = Time::max();  // when ranks that seem to exist twice count as such
};

}  // namespace dts::launch
