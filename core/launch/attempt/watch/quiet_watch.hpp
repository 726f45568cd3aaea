// SPDX-License-Identifier: Apache-2.0
// Detects a program without a sign of life: no heartbeat, output or checkpoint from any rank, and
// at least one rank that has not even computed. This is reported once, until the next sign of life.
// Whether it has consequences is up to --hang-timeout. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/rank_table.hpp"

namespace dts::launch {

class QuietWatch {
 public:
  QuietWatch(const AttemptSettings& settings, const RankTable& ranks, AttemptNews& news)
      : settings_(settings), ranks_(ranks), news_(news) {}

  // Call it when the programs have started and when a checkpoint was seen.
  void on_sign(Time now) { sign_at_ = now; }

  void poll(Time now);

 private:
  void warn(unsigned idle, Time::duration quietest);

  const AttemptSettings& settings_;
  const RankTable& ranks_;
  AttemptNews& news_;
  bool quiet_ = false;  // reported to the ledger
  Time sign_at_;
};

}  // namespace dts::launch
