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
  Seconds save{0};     // the time that a save keeps the ranks from computing
  Seconds failure{0};  // expected time between two
  unsigned failures = 0;
  Seconds running{0};
  bool notable = false;  // differs much from the last notable advice: worth an event in the ledger
};

// reliability::checkpoint_interval() of the save that the ranks measured and of
// learnt_time_to_failure() of the run's own record. New advice is given if it differs by more than
// a tenth: missing the best interval by a tenth costs less than 1 % of the total cost of saves and
// lost work.
class CheckpointAdvice {
 public:
  static constexpr double k_change = 1.1;
  static constexpr double k_notable_change = 1.5;
  static constexpr unsigned k_most_notable = 32;  // limits the size of the ledger

  // For a run on `nodes` nodes that has the history `record`.
  CheckpointAdvice(unsigned nodes, const run::FailureRecord& record);

  // With saves of length `save` (0: not known), after all ranks have run for `running` in this
  // attempt; nullopt if the advice does not change or nothing is known about saves.
  [[nodiscard]] std::optional<Advice> update(Seconds save, Seconds running);

  // The interval advised last; 0: none.
  [[nodiscard]] Seconds every() const { return every_; }

 private:
  unsigned nodes_;
  run::FailureRecord record_;
  Seconds every_{0};
  Seconds noted_{0};
  unsigned notable_ = 0;  // given so far
};

// "save every 93 s: a save takes 0.05 s, and a failure is expected every 23.8 h (0 in 12 min)"
[[nodiscard]] std::string in_words(const Advice& advice);

}  // namespace dts::launch
