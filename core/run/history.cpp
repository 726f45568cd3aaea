// SPDX-License-Identifier: Apache-2.0
#include "core/run/history.hpp"

#include <map>
#include <set>
#include <string>

namespace dts::run {

Circumstances count_failures(const std::vector<Event>& events) {
  Circumstances counted;
  std::map<unsigned, std::string> checkpoint_at_start;
  for (const Event& event : events) {
    if (event.event == "attempt_started") checkpoint_at_start[event.attempt] = event.checkpoint;
    // `dtsubmit requeue` is a person's word that the cause is gone: budgets begin anew.
    if (event.event == "resumed") counted = {};
    if (event.event != "attempt_ended") continue;
    const auto cause = cause_from(event.cause);
    if (cause == Cause::launch_failed) ++counted.launch_failures;
    if (cause != Cause::rank_killed && cause != Cause::launcher_died) {
      if (cause != Cause::launch_failed && cause != Cause::agent_lost) counted.without_progress = 0;
      continue;
    }
    ++counted.crashes;
    const bool progress = event.checkpoint > checkpoint_at_start[event.attempt];
    counted.without_progress = progress ? 0 : counted.without_progress + 1;
  }
  return counted;
}

std::optional<unsigned> unfinished_attempt(const std::vector<Event>& events) {
  std::set<unsigned> open;
  for (const Event& event : events) {
    if (event.event == "attempt_started") open.insert(event.attempt);
    if (event.event == "attempt_ended") open.erase(event.attempt);
  }
  if (open.empty()) return std::nullopt;
  return *open.rbegin();
}

}  // namespace dts::run
