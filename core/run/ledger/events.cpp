// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/events.hpp"

#include "core/run/ledger/history.hpp"

#include <algorithm>

namespace dts::run {

AttemptEnded ended_event(const Outcome& outcome) {
  AttemptEnded ended{.cause = outcome.cause,
                     .exit_code = outcome.exit_code,
                     .detail = outcome.detail,
                     .part = outcome.part,
                     .rank = outcome.rank,
                     .node = outcome.node,
                     .unsaved = outcome.unsaved};
  if (outcome.stalled.count() > 0) ended.stalled = outcome.stalled;
  return ended;
}

std::vector<Event> events_of_failure(const std::vector<Event>& before,
                                     const Error& failed,
                                     unsigned own,
                                     unsigned latest,
                                     bool in_scheduler,
                                     Cause cause) {
  const Event* decided = final_decision(before);
  if (own != 0 && decided != nullptr && decided->attempt == own) return {};
  const bool has_end = own != 0 && std::any_of(before.begin(), before.end(), [&](const Event& e) {
                         return e.attempt == own && e.is<AttemptEnded>();
                       });
  const unsigned attempt = own != 0 ? own : unfinished_attempt(before).value_or(latest + 1);
  // Further lines of a message show the place in a file; the job's log has them.
  const std::string why = failed.message.substr(0, failed.message.find('\n'));
  const Outcome outcome{failed.no_space ? Cause::disk_full : cause, exit_code(failed.code), why};
  std::vector<Event> events;
  if (!has_end) events.push_back({.attempt = attempt, .what = ended_event(outcome)});
  Decision stop = decide(outcome, {.in_scheduler = in_scheduler}, default_policy());
  // The agent ends and carries out nothing more, even after a cause that allows another attempt.
  if (stop.action != Action::stop)
    stop = {Action::stop, outcome.exit_code, "the agent could not continue: " + why};
  if (has_end) stop.why = why + ": " + stop.why;  // otherwise the end already says it
  events.push_back({.attempt = attempt, .what = decided_event(stop)});
  return events;
}

Decided decided_event(const Decision& decision) {
  return {.exit_code = decision.exit_code,
          .decision = decision.action,
          .detail = decision.why,
          .exclude = decision.exclude};
}

}  // namespace dts::run
