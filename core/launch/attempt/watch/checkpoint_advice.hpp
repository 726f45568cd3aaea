// SPDX-License-Identifier: Apache-2.0
// How often a run should save, learnt while the run is active. Pure.
#pragma once

#include "core/base/text/duration.hpp"
#include "core/run/ledger/history.hpp"

#include <optional>
#include <string>

namespace dts::launch {

struct Advice {
  Seconds every{0};    // computing time between two checkpoints, excluding the save
  Seconds save{0};     // time for which a save keeps the ranks from computing
  Seconds failure{0};  // expected time between two failures
  unsigned failures = 0;
  Seconds running{0};
  bool notable = false;  // differs much from the last notable advice, so the ledger gets an event
};

// Applies reliability::checkpoint_interval() to the save time that the ranks measured and to
// learnt_time_to_failure() of the run's record. The advice changes only if the new one differs by
// more than a tenth: an interval that is a tenth away from the best adds less than 1 % to the total
// cost of saves and lost work.
class CheckpointAdvice {
 public:
  static constexpr double k_change = 1.1;
  static constexpr double k_notable_change = 1.5;
  static constexpr unsigned k_most_notable = 32;  // limits the size of the ledger

  // For a run on `nodes` nodes with the history `record`.
  CheckpointAdvice(unsigned nodes, const run::FailureRecord& record);

  // `save`: how long a save takes (0: not known); `running`: how long all ranks have run in this
  // attempt. nullopt if the advice does not change or nothing is known about saves.
  [[nodiscard]] std::optional<Advice> update(Seconds save, Seconds running);

  // The last interval that was advised; 0: none.
  [[nodiscard]] Seconds every() const { return every_; }

 private:
  unsigned nodes_;
  run::FailureRecord record_;
  Seconds every_{0};
  Seconds noted_{0};
  unsigned notable_ = 0;  // number given so far
};

// "save every 93 s: a save takes 0.05 s, and a failure is expected every 23.8 h (0 in 12 min)"
[[nodiscard]] std::string in_words(const Advice& advice);

}  // namespace dts::launch
