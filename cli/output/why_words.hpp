// SPDX-License-Identifier: Apache-2.0
// The building blocks of explain()'s sentences. Pure.
#pragma once

#include "cli/output/why.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace dts::cli::why_words {

using run::AttemptSummary;
using run::Event;

// The last event of one of these types; null if there is none.
template <class... Types>
const Event* last_of(const std::vector<Event>& events) {
  const auto found = std::find_if(
      events.rbegin(), events.rend(), [](const Event& event) { return event.is<Types...>(); });
  return found == events.rend() ? nullptr : &*found;
}

[[nodiscard]] std::string ago(std::int64_t duration);

[[nodiscard]] std::string utc(std::int64_t time);

[[nodiscard]] std::int64_t unix_of(const std::string& time);

[[nodiscard]] bool is_local(const RunFacts& known);

[[nodiscard]] std::string who(const RunFacts& known);

[[nodiscard]] std::string who_begins(const RunFacts& known);

[[nodiscard]] std::string scheduler_begins(const RunFacts& known);

[[nodiscard]] const AttemptSummary* newest(const RunFacts& known);

// The latest attempt if it has begun and no end of it is recorded; null otherwise.
[[nodiscard]] const AttemptSummary* under_way(const RunFacts& known);

[[nodiscard]] Standing standing_of(const RunFacts& known);

// "continues from step-000000060", "starts over: its run directory has no checkpoint".
[[nodiscard]] std::string would_continue(const RunFacts& known);

[[nodiscard]] std::string continue_command(const RunFacts& known);

[[nodiscard]] std::string steps_of(const AttemptSummary& attempt);

// Why the attempt ended. After `dtsubmit stop`, an external signal counts as the user's own.
[[nodiscard]] std::string what_ended(const AttemptSummary& attempt, run::Cause cause);

[[nodiscard]] AttemptExplanation describe_attempt(const AttemptSummary& attempt);

// "submitted", "requeued", "asked for again"
[[nodiscard]] std::string_view request_verb(const Event& event);

[[nodiscard]] std::string progress_of(const RunFacts& known, const AttemptSummary& attempt);

// Explains a job that is pending, and one whose program runs.
void explain_pending(const RunFacts& known, Explanation& why);
void explain_running(const RunFacts& known, Explanation& why);

}  // namespace dts::cli::why_words
