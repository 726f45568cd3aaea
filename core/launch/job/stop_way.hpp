// SPDX-License-Identifier: Apache-2.0
// How a run is stopped from outside, given what is known about it. Pure.
#pragma once

#include "core/run/directory/lease.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/sched/scheduler.hpp"

#include <csignal>
#include <optional>
#include <vector>

namespace dts::launch {

// The signal that asks the agent to save and end, without a time limit (`dtsubmit stop`). It cannot
// be SIGTERM, with which Slurm announces the SIGKILL that follows after KillWait.
inline constexpr int k_stop_request = SIGUSR2;

// The value of that signal if the agent of the whole job sends it because another part has ended.
inline constexpr int k_of_another_part = 1;

// The value of a signal that a parent within dtsubmit passes on.
inline constexpr int k_passed_on = 2;

// Counts the interrupts (SIGINT) of a process. With proctrack/linuxproc, Slurm signals both a
// process and its parent, which passes the signal on: the process receives one interrupt twice.
class Interrupts {
 public:
  // Adds a SIGINT that was received with this value. False if its interrupt has been counted.
  bool add(int value) {
    unsigned& count = value == k_passed_on ? passed_on_ : direct_;
    if (++count <= count_) return false;
    count_ = count;
    return true;
  }

  [[nodiscard]] unsigned count() const { return count_; }

 private:
  unsigned direct_ = 0;
  unsigned passed_on_ = 0;
  unsigned count_ = 0;
};

enum class StopWay {
  nothing,  // the run has ended
  signal,   // its agent is alive: k_stop_request
  cancel,   // its job waits in the queue: no program runs
  // The agent is about to begin or to decide, or is suspended, so that no signal is passed on to
  // it: try again soon.
  wait,
};

// True if no agent of the job has begun. One may have begun before the last node is ready.
[[nodiscard]] bool waits_for_agent(const sched::JobInfo& job,
                                   const std::optional<run::Lease>& lease);

// How to stop a job, where `lease` is the lease of its latest attempt. An agent that has just
// requeued its job no longer accepts requests, so the queued job must be cancelled.
[[nodiscard]] StopWay stop_way(const std::vector<run::Event>& events,
                               const sched::JobInfo& job,
                               const std::optional<run::Lease>& lease);

// The same for a run without a scheduler; `agent` is the result of holder_of().
[[nodiscard]] StopWay stop_way(const std::vector<run::Event>& events, run::Holder agent);

}  // namespace dts::launch
