// SPDX-License-Identifier: Apache-2.0
// A program that shows no sign of life: no heartbeat, output or checkpoint from any rank, and at
// least one rank that has not even computed. Reported once, until there is another sign. What
// follows is up to --hang-timeout. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/rank_table.hpp"

namespace dts::launch {

class QuietWatch {
 public:
  QuietWatch(const AttemptSettings& settings, const RankTable& ranks, AttemptNews& news)
      : settings_(settings), ranks_(ranks), news_(news) {}

  // A checkpoint was seen, or the programs have started.
  void on_sign(Time now) { sign_at_ = now; }

  void look(Time now);

 private:
  void warn(unsigned idle, Time::duration quietest);

  const AttemptSettings& settings_;
  const RankTable& ranks_;
  AttemptNews& news_;
  bool quiet_ = false;  // recorded in the ledger
  Time sign_at_;
};

}  // namespace dts::launch
