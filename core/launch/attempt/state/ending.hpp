// SPDX-License-Identifier: Apache-2.0
// Why an attempt ends, which ranks are killed and when, and the outcome once no rank is left. All
// phases end the attempt through this class. Pure, not thread-safe.
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

  // From now on programs are starting or running, and can be asked to save.
  void begin_programs() { programs_run_ = true; }

  // See Attempt::on_stop().
  void stop(run::Cause cause, Time kill_at, const std::string& detail, Time now);

  // Sets the reason for the end, unless there is one already. Kills no rank yet.
  void blame(run::Outcome outcome);

  // Withdraws the reason: the failure was caused by another rank.
  void withdraw() { failure_.reset(); }

  // Kills every rank, for this reason unless there is one already.
  void end(run::Outcome outcome, Time now);
  // Like end(), but replaces an earlier reason.
  void override_end(run::Outcome outcome, Time now);
  void kill_all(Time now);

  // Kills ranks that are still running at `time`.
  void kill_by(Time time) { kill_at_ = std::min(kill_at_, time); }

  [[nodiscard]] Time kill_at() const { return kill_at_; }

  // Gives up killed ranks that do not answer.
  void on_tick(Time now);
  void finish_if_all_ended();

  // True if the ranks are being killed or have all ended.
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
  Time give_up_at_ = Time::max();  // then killed ranks that do not answer are left to the launcher
  std::optional<run::Outcome> failure_;  // the first reason to end, if any
  std::optional<run::Outcome> outcome_;
};

}  // namespace dts::launch
