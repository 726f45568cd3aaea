// SPDX-License-Identifier: Apache-2.0
// The outcome of an attempt all of whose ranks have ended: saved, done, or failed. Pure.
#pragma once

#include "core/launch/attempt/state/rank_table.hpp"
#include "core/run/ledger/decision.hpp"

#include <optional>
#include <string>

namespace dts::launch {

// A stop that was requested.
struct AskedStop {
  run::Cause cause = run::Cause::stopped;
  std::string detail;
  bool programs_informed = false;  // false: no program that could save was running yet
};

class EndedRanks {
 public:
  EndedRanks(const RankTable& ranks, int stop_signal, bool torchrun)
      : ranks_(ranks), stop_signal_(stop_signal), torchrun_(torchrun) {}

  // Precondition: every rank has an exit code.
  [[nodiscard]] run::Outcome outcome(const std::optional<AskedStop>& stop,
                                     const std::optional<run::Outcome>& failure) const;

 private:
  [[nodiscard]] run::Outcome outcome_of_stop(const AskedStop& stop,
                                             const std::optional<run::Outcome>& failure) const;
  [[nodiscard]] run::Outcome outcome_of_zeros(const std::optional<AskedStop>& stop) const;
  [[nodiscard]] bool has_all(int code, int or_code) const;
  [[nodiscard]] std::optional<unsigned> done_rank() const;  // the first that reported being done
  [[nodiscard]] bool all_ended_by_stop() const;
  [[nodiscard]] bool may_be_torchruns() const;
  [[nodiscard]] bool may_have_saved_and_gone_on() const;

  [[nodiscard]] bool is_torchruns(const RankState& rank) const {
    return torchrun_ || rank.has_torchrun;
  }

  [[nodiscard]] std::optional<unsigned> unsaved_rank() const;
  [[nodiscard]] std::string describe_unsaved(bool programs_informed) const;

  const RankTable& ranks_;
  int stop_signal_;
  bool torchrun_;
};

}  // namespace dts::launch
