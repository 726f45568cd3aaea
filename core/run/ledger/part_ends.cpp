// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/part_ends.hpp"

#include "core/base/exit_codes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::run {
namespace {

// The decision for a part: its own, or ours if it has none.
Decision decision_of(const PartEnd& end, bool may_restart) {
  if (end.out_of_time && !is_done(end))
    return {Action::stop, k_checkpointed, "it has used all of its time"};
  if (!end.decided)
    return may_restart
               ? Decision{Action::restart, 0, "its agent has vanished: once more in this job"}
               : Decision{Action::stop, 1, "its agent has vanished repeatedly"};
  const auto action = end.decided->decision.value();
  Decision decision{action.value_or(Action::stop), end.decided->exit_code.value_or(1), ""};
  decision.why = end.decided->detail;
  decision.exclude = end.decided->exclude;
  return decision;
}

int precedence(Action action) {
  switch (action) {
    case Action::stop:
      return 5;
    case Action::wait:
      return 4;
    case Action::resubmit:
      return 3;
    case Action::requeue:
      return 2;
    case Action::restart:
      return 1;
    case Action::done:
      break;
  }
  return 0;
}

Outcome outcome_of(const PartEnd& end, const Decision& decision) {
  Outcome outcome{Cause::agent_lost, decision.exit_code, end.words + ": its agent has vanished"};
  outcome.part = end.name;
  if (end.decided && end.attempt) {
    outcome.cause = end.attempt->cause.value().value_or(Cause::launch_failed);
    outcome.exit_code = end.attempt->exit_code.value_or(decision.exit_code);
    outcome.detail = fmt::format("{}: {}", end.words, end.attempt->detail);
    outcome.rank = end.attempt->rank;
    outcome.node = end.attempt->node;
    outcome.unsaved = end.attempt->unsaved;
  } else if (end.decided) {
    outcome.cause = Cause::launch_failed;
    outcome.detail = fmt::format("{}: {}", end.words, end.decided->detail);
  }
  if (end.out_of_time) {
    outcome.cause = Cause::time_limit;
    outcome.detail = end.words + ": it has used up its own `time`";
  }
  return outcome;
}

}  // namespace

void read_end(const std::vector<Event>& events, PartEnd& end) {
  for (const Event& event : events) {
    if (const auto* ended = event.as<AttemptEnded>()) end.attempt = *ended;
    if (const auto* decided = event.as<Decided>()) end.decided = *decided;
    // The restart was carried out by the agent itself if another attempt has begun: it is not
    // pending.
    if (event.is<AttemptStarted>()) end.decided.reset();
  }
}

bool is_done(const PartEnd& end) {
  return end.decided && end.decided->decision == Action::done;
}

bool has_failed(const PartEnd& end) {
  if (end.end_requested || end.out_of_time) return false;
  if (!end.decided || end.decided->decision != Action::stop) return false;
  // While it waited for its next attempt, its cause is that of the one before.
  const auto asked = [&](const char* by) { return end.decided->detail.starts_with(by); };
  const bool is_stopped = end.attempt && end.attempt->cause == Cause::stopped;
  return !is_stopped && !asked(k_asked_by_user) && !asked(k_asked_by_part);
}

bool ends_others(const PartEnd& end) {
  return !end.end_requested && !is_done(end) && !(end.spares_others && has_failed(end));
}

Verdict judge_parts(const std::vector<PartEnd>& ends, bool may_restart) {
  const PartEnd* first = nullptr;
  Verdict verdict;
  std::string exclude;
  for (const PartEnd& end : ends) {
    if (!ends_others(end)) continue;
    const Decision decision = decision_of(end, may_restart);
    if (!decision.exclude.empty()) exclude += (exclude.empty() ? "" : ",") + decision.exclude;
    if (first != nullptr && precedence(decision.action) <= precedence(verdict.decision.action))
      continue;
    first = &end;
    verdict.decision = decision;
  }
  if (first == nullptr) {
    verdict.outcome = {Cause::completed, 0, "every part is done"};
    verdict.decision = {Action::done, 0, "every part is done"};
    return verdict;
  }
  verdict.outcome = outcome_of(*first, verdict.decision);
  verdict.decision.why = fmt::format("{}: {}", first->words, verdict.decision.why);
  verdict.decision.exclude = exclude;
  return verdict;
}

}  // namespace dts::run
