// SPDX-License-Identifier: Apache-2.0
// What the ends of a composed run's parts mean for the whole run. Pure.
#pragma once

#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/ledger.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::run {

// How the agent of a part has ended.
struct PartEnd {
  std::string name;
  std::string words;                    // "step `train`"
  std::optional<AttemptEnded> attempt;  // its latest
  std::optional<Decided> decided;       // nullopt: it vanished without a decision
  bool end_requested = false;           // we asked it to end, because another part did
  bool out_of_time = false;             // its own time is up
  bool spares_others = false;           // if it fails for good, they go on
};

// Reads the end from the events that a part's agent has added.
void read_end(const std::vector<Event>& events, PartEnd& end);

[[nodiscard]] bool is_done(const PartEnd& end);

// True if the part will not run again, although nobody has asked it to stop, and it has time left.
[[nodiscard]] bool has_failed(const PartEnd& end);

// True if the other roles cannot continue.
[[nodiscard]] bool ends_others(const PartEnd& end);

struct Verdict {
  Outcome outcome;
  Decision decision;  // restart: the parts that are not done are started again
};

// `ends` is in the order in which they ended; parts that we asked to end do not count. A part that
// stops ends the run; a job that the scheduler has requeued is waited for; then a new submission, a
// requeue (without the nodes that any of them avoids) and a restart take precedence in this order.
// A part whose agent vanished is restarted while `may_restart`. If all are done, the run is done.
[[nodiscard]] Verdict judge_parts(const std::vector<PartEnd>& ends, bool may_restart);

}  // namespace dts::run
