// SPDX-License-Identifier: Apache-2.0
// How an attempt ends: why, which ranks are killed and when, and the outcome once none is left. All
// phases end it through this class. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ended_ranks.hpp"
#include "core/launch/attempt/state/rank_table.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace dts::launch {

class Ending {
 public:
  Ending(const AttemptSettings& settings, RankTable& ranks) : settings_(settings), ranks_(ranks) {}

  // From now on programs run, or are starting, and can be asked to save.
  void begin_programs() { programs_run_ = true; }

  // See Attempt::on_stop().
  void stop(run::Cause cause, Time kill_at, const std::string& detail, Time now);

  // Sets why the attempt ends, unless that is known already. Kills nobody yet.
  void blame(run::Outcome outcome);

  // The blamed failure is another rank's fault.
  void withdraw() { failure_.reset(); }

  // Kills every rank, for this reason unless another is known already.
  void end(run::Outcome outcome, Time now);
  // Like end(), but replaces any reason given before.
  void end_instead(run::Outcome outcome, Time now);
  void kill_all(Time now);

  // Ranks that still run then are killed.
  void kill_by(Time time) { kill_at_ = std::min(kill_at_, time); }

  [[nodiscard]] Time kill_at() const { return kill_at_; }

  // Killed ranks that do not answer are given up.
  void on_tick(Time now);
  void finish_if_all_ended();

  // The ranks are being killed, or have all ended.
  [[nodiscard]] bool begun() const { return begun_; }

  [[nodiscard]] const std::optional<AskedStop>& asked_stop() const { return stop_; }

  [[nodiscard]] const std::optional<run::Outcome>& failure() const { return failure_; }

  // Set when no rank is left.
  [[nodiscard]] const std::optional<run::Outcome>& outcome() const { return outcome_; }

  // True once after programs were asked to save.
  [[nodiscard]] bool take_stop_news() { return std::exchange(stop_news_, false); }

 private:
  const AttemptSettings& settings_;
  RankTable& ranks_;
  bool programs_run_ = false;
  bool begun_ = false;
  bool stop_news_ = false;
  std::optional<AskedStop> stop_;
  Time kill_at_ = Time::max();
  Time give_up_at_ = Time::max();  // killed ranks that do not answer are left to the launcher's end
  std::optional<run::Outcome> failure_;  // the first reason to end, if any
  std::optional<run::Outcome> outcome_;
};

}  // namespace dts::launch
