// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/stop_way.hpp"

#include "core/run/ledger/history.hpp"

namespace dts::launch {
namespace {

// The agent is running programs, or waiting before it restarts them itself.
bool is_between_begin_and_end(const std::vector<run::Event>& events) {
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->is<run::AttemptStarted>()) return true;
    if (const auto* decided = event->as<run::Decided>())
      return decided->decision == run::Action::restart;
    if (event->is<run::AttemptEnded>()) return false;  // it is deciding right now
  }
  return false;
}

bool is_of(const std::optional<run::Lease>& lease, const sched::JobInfo& job) {
  return lease && lease->job == job.id && lease->restart_count == job.restart_count;
}

}  // namespace

bool waits_for_agent(const sched::JobInfo& job, const std::optional<run::Lease>& lease) {
  return sched::waits(job) && !(job.preparing && is_of(lease, job));
}

StopWay stop_way(const std::vector<run::Event>& events,
                 const sched::JobInfo& job,
                 const std::optional<run::Lease>& lease) {
  if (waits_for_agent(job, lease)) return StopWay::cancel;
  if (sched::is_terminal(job.state) || run::final_decision(events) != nullptr)
    return StopWay::nothing;
  if (job.state == sched::JobState::suspended) return StopWay::wait;
  return is_of(lease, job) && is_between_begin_and_end(events) ? StopWay::signal : StopWay::wait;
}

StopWay stop_way(const std::vector<run::Event>& events, run::Holder agent) {
  if (agent != run::Holder::alive || run::final_decision(events) != nullptr)
    return StopWay::nothing;
  return is_between_begin_and_end(events) ? StopWay::signal : StopWay::wait;
}

}  // namespace dts::launch
