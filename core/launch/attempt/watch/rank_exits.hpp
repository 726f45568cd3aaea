// SPDX-License-Identifier: Apache-2.0
// Handles the end of a rank's program and the loss of a rank. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/start/silent_nodes.hpp"
#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"
#include "core/launch/attempt/watch/second_launcher_watch.hpp"

#include <optional>
#include <string>

namespace dts::launch {

class RankExits {
 public:
  RankExits(const AttemptSettings& settings,
            RankTable& ranks,
            SilentNodes& silent,
            Ending& ending,
            AttemptNews& news)
      : settings_(settings),
        ranks_(ranks),
        silent_(silent),
        ending_(ending),
        news_(news),
        launchers_(settings.plan, ranks, ending) {}

  // Call it when all ranks run.
  void begin() { all_run_ = true; }

  void on_launched(unsigned rank, const Launched& message, Time now) {
    if (message.launcher == "torchrun") ranks_.at(rank).has_torchrun = true;
    launchers_.on_launched(rank, message, now);
  }

  void on_exited(unsigned rank, const Exited& message, Time now);
  // The connection `peer` has ended.
  void on_lost(Peer peer, Time now);
  void on_tick(Time now);
  // Withdraws a failure, if it is recent, that may be a consequence of something else.
  void withdraw_secondary_failure(Time now);

 private:
  void warn_of_left(unsigned rank, const std::string& command);
  void look_at_overdue();
  [[nodiscard]] std::string after_done_ranks() const;
  void on_failed(unsigned rank, const Exited& message, Time now);

  const AttemptSettings& settings_;
  RankTable& ranks_;
  SilentNodes& silent_;
  Ending& ending_;
  AttemptNews& news_;
  SecondLauncherWatch launchers_;
  bool all_run_ = false;
  bool warned_ = false;
  bool looked_at_overdue_ = false;
  Time settle_until_ = Time::max();      // a program failed, perhaps because another was killed
  std::optional<unsigned> first_saved_;  // the first rank that exited 85
};

}  // namespace dts::launch
