// SPDX-License-Identifier: Apache-2.0
// What `dtsubmit guard` does when its agent ends. Pure.
#pragma once

#include <chrono>

namespace dts::launch {

inline constexpr unsigned k_most_kills = 3;  // of agents in one job

enum class NextStep {
  exit,         // with the agent's exit code
  start_agent,  // another one, in the same job
  die,          // by the same signal, so that Slurm records it rather than an exit code
};

// `wait_status`: of the agent (wait(2)). `kills`: how many agents of this job signals have ended,
// including this one.
[[nodiscard]] NextStep after_agent(int wait_status, unsigned kills);

// How long the ranks that an agent left behind have to save and end, from its death on.
// `signal_waits`: a signal has arrived for the next agent.
[[nodiscard]] std::chrono::seconds time_for_orphans(bool signal_waits);

}  // namespace dts::launch
