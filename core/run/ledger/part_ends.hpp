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
  std::optional<AttemptEnded> attempt;  // its newest
  std::optional<Decided> decided;       // nullopt: it vanished without a decision
  bool told = false;                    // we had asked it to end, for another part's sake
  bool out_of_time = false;             // it has used its own time
  bool until_others_end = false;        // a role that does not end by itself
};

// What the events that a part's agent has added show.
void read_end(const std::vector<Event>& events, PartEnd& end);

[[nodiscard]] bool is_done(const PartEnd& end);

// True if the other roles cannot go on.
[[nodiscard]] bool ends_others(const PartEnd& end);

struct Verdict {
  Outcome outcome;
  Decision decision;  // restart: the parts that are not done are started again
};

// In the order in which they ended; parts that we had asked to end say nothing. A part that stops
// ends the run; a job that the scheduler has requeued is waited for; then a new submission, a
// requeue (without the nodes that any of them avoids) and a restart take precedence in this order.
// A part whose agent vanished is started again while `may_restart`. All done: the run is done.
[[nodiscard]] Verdict judge_parts(const std::vector<PartEnd>& ends, bool may_restart);

}  // namespace dts::run
