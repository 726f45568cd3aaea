// SPDX-License-Identifier: Apache-2.0
// The words for a job's states.
#include "core/sched/scheduler.hpp"

#include <array>
#include <utility>

namespace dts::sched {
namespace {

constexpr std::array<std::pair<JobState, const char*>, 11> k_states{{
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

}  // namespace

const char* to_string(JobState state) {
  for (const auto& [candidate, word] : k_states)
    if (candidate == state) return word;
  return "unknown";
}

JobState job_state_of(std::string_view word) {
  for (const auto& [state, candidate] : k_states)
    if (word == candidate) return state;
  return JobState::unknown;
}

bool is_away(const NodeInfo& node) {
  if (node.state.find('*') != std::string::npos) return true;
  for (const std::string_view word : {"down", "drain", "fail", "error", "inval"})
    if (node.state.rfind(word, 0) == 0) return true;
  return false;
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
