// SPDX-License-Identifier: Apache-2.0
// How often a run should save, learnt while it runs. Pure.
#pragma once

#include "core/base/text/duration.hpp"
#include "core/run/ledger/history.hpp"

#include <optional>
#include <string>

namespace dts::launch {

struct Advice {
  Seconds every{0};    // computing time between two checkpoints, without the save
  Seconds save{0};     // that one keeps the ranks from computing
  Seconds failure{0};  // expected between two
  unsigned failures = 0;
  Seconds running{0};
  bool notable = false;  // differs much from the last notable one: worth a line in the ledger
};

// reliability::checkpoint_interval() of the save that the ranks measured and of
// learnt_time_to_failure() of the run's own record. New advice is given where it differs by more
// than a tenth: a tenth beside the best interval costs less than 1 % of what saves and lost work
// cost together.
class CheckpointAdvice {
 public:
  static constexpr double k_change = 1.1;
  static constexpr double k_notable_change = 1.5;
  static constexpr unsigned k_most_notable = 32;  // the ledger must not grow with a save that jumps

  // For a run on so many nodes that has gone through `record`.
  CheckpointAdvice(unsigned nodes, const run::FailureRecord& record);

  // With saves of that length (0: not known) after all ranks have run for `running` in this
  // attempt; nullopt where that changes nothing or nothing is known of saves.
  [[nodiscard]] std::optional<Advice> update(Seconds save, Seconds running);

  // What was given last; 0: nothing.
  [[nodiscard]] Seconds every() const { return every_; }

 private:
  unsigned nodes_;
  run::FailureRecord record_;
  Seconds every_{0};
  Seconds noted_{0};
  unsigned notable_ = 0;  // that were given
};

// "save every 93 s: a save takes 0.05 s, and a failure is expected every 23.8 h (0 in 12 min)"
[[nodiscard]] std::string in_words(const Advice& advice);

}  // namespace dts::launch
