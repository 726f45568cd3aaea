// SPDX-License-Identifier: Apache-2.0
// The words for a job's states.
#include "core/sched/scheduler.hpp"

#include "core/base/text/names.hpp"

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

}  // namespace

const char* to_string(JobState state) {
  return name_of(k_states, state);
}

JobState job_state_of(std::string_view word) {
  return value_of(k_states, word).value_or(JobState::unknown);
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
