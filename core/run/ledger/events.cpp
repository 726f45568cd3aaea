// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/events.hpp"

#include "core/run/ledger/history.hpp"

#include <algorithm>

namespace dts::run {

Event ended_event(const Outcome& outcome) {
  Event event{.event = "attempt_ended",
              .cause = to_string(outcome.cause),
              .exit_code = outcome.exit_code,
              .detail = outcome.detail};
  if (outcome.rank) event.rank = static_cast<int>(*outcome.rank);
  event.node = outcome.node;
  event.unsaved = outcome.unsaved;
  if (outcome.stalled.count() > 0)
    event.seconds["stalled"] = static_cast<double>(outcome.stalled.count());
  return event;
}

std::vector<Event> events_of_failure(const std::vector<Event>& before,
                                     const Error& failed,
                                     unsigned own,
                                     unsigned latest,
                                     Cause cause) {
  const Event* decided = final_decision(before);
  if (own != 0 && decided != nullptr && decided->attempt == own) return {};
  const bool has_end = own != 0 && std::any_of(before.begin(), before.end(), [&](const Event& e) {
                         return e.attempt == own && e.event == "attempt_ended";
                       });
  const unsigned attempt = own != 0 ? own : unfinished_attempt(before).value_or(latest + 1);
  const Outcome outcome{cause, exit_code(failed.code), failed.message};
  std::vector<Event> events;
  if (!has_end) events.push_back(ended_event(outcome));
  events.push_back(decided_event(decide(outcome, {}, default_policy())));
  for (Event& event : events) event.attempt = attempt;
  return events;
}

Event decided_event(const Decision& decision) {
  return {.event = "decided",
          .exit_code = decision.exit_code,
          .decision = to_string(decision.action),
          .detail = decision.why};
}

}  // namespace dts::run
