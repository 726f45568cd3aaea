// SPDX-License-Identifier: Apache-2.0
// How a run is stopped from outside, given what is known of it at a moment. Pure.
#pragma once

#include "core/run/directory/lease.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/sched/scheduler.hpp"

#include <csignal>
#include <optional>
#include <vector>

namespace dts::launch {

// To the agent: save and end, without a limit of time (`dtsubmit stop`). SIGTERM would not do: that
// is how Slurm announces SIGKILL after KillWait.
inline constexpr int k_stop_request = SIGUSR2;

enum class StopWay {
  nothing,  // the run has ended
  signal,   // its agent lives: k_stop_request
  cancel,   // its job waits in the queue: no program runs
  wait,     // the agent is about to begin or to decide: look again
};

// How to stop a job; `lease` is that of the newest attempt. An agent that has just requeued its job
// no longer accepts requests; then the job in the queue must be cancelled.
[[nodiscard]] StopWay stop_way(const std::vector<run::Event>& events,
                               const sched::JobInfo& job,
                               const std::optional<run::Lease>& lease);

// Of a run without a scheduler, whose agent is as holder_of() said.
[[nodiscard]] StopWay stop_way(const std::vector<run::Event>& events, run::Holder agent);

}  // namespace dts::launch
