// SPDX-License-Identifier: Apache-2.0
// The names of a job's states, and small functions.
#include "core/sched/scheduler.hpp"

#include "core/base/text/names.hpp"
#include "core/base/text/number_list.hpp"

#include <algorithm>

namespace dts::sched {
namespace {

constexpr Names<JobState, 11> k_states{{
    {JobState::pending, "pending"},
    {JobState::running, "running"},
    {JobState::suspended, "suspended"},
    {JobState::completed, "completed"},
    {JobState::cancelled, "cancelled"},
    {JobState::failed, "failed"},
    {JobState::timed_out, "timed_out"},
    {JobState::node_failed, "node_failed"},
    {JobState::preempted, "preempted"},
    {JobState::out_of_memory, "out_of_memory"},
    {JobState::unknown, "unknown"},
}};

constexpr Names<Preemption, 4> k_preemptions{{
    {Preemption::none, "none"},
    {Preemption::requeue, "requeue"},
    {Preemption::cancel, "cancel"},
    {Preemption::suspend, "suspend"},
}};

}  // namespace

const char* to_string(JobState state) {
  return name_of(k_states, state);
}

JobState job_state_of(std::string_view word) {
  return value_of(k_states, word).value_or(JobState::unknown);
}

const char* to_string(Preemption preemption) {
  return name_of(k_preemptions, preemption);
}

Preemption preemption_of(std::string_view word) {
  return value_of(k_preemptions, word).value_or(Preemption::none);
}

const ClaimedExits* claimed_by(const ConfigInfo& config, unsigned code) {
  constexpr unsigned k_highest = 255;  // of an exit code
  for (const ClaimedExits& claim : config.claimed_exits)
    if (const auto codes = parse_number_list(claim.codes, k_highest);
        codes && std::binary_search(codes->begin(), codes->end(), code))
      return &claim;
  return nullptr;
}

std::string to_text(const Way& way) {
  return way.instead.empty() ? way.words : way.words + ": " + way.instead;
}

bool is_terminal(JobState state) {
  switch (state) {
    case JobState::pending:
    case JobState::running:
    case JobState::suspended:
    case JobState::unknown:
      return false;
    case JobState::completed:
    case JobState::cancelled:
    case JobState::failed:
    case JobState::timed_out:
    case JobState::node_failed:
    case JobState::preempted:
    case JobState::out_of_memory:
      return true;
  }
  return false;
}

}  // namespace dts::sched
