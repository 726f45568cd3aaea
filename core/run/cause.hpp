// SPDX-License-Identifier: Apache-2.0
// Why an attempt ended, and what is done about it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dts::run {

enum class Cause {
  completed,      // every rank's program exited 0
  preempted,      // the scheduler wants the nodes for another job
  time_limit,     // the job's time is (nearly) over
  cancelled,      // scancel
  requeued,       // put back by hand, or after a node failed: the scheduler says so by state alone
  stopped,        // a signal from outside, neither preemption nor cancel
  checkpointed,   // the program asked by itself to be run again (exit 85)
  no_restart,     // the program asked not to be run again (exit 93)
  rank_killed,    // a rank ended by a signal, or its process vanished
  user_exit,      // a rank's program exited with another code
  launcher_died,  // mpirun ended before its ranks
  launch_failed,  // not all ranks said hello, or one could not start its program
  wrong_ranks,    // the set of ranks is not what was planned
  fenced,         // a newer attempt owns the run directory
  agent_lost,     // the agent itself vanished (found by the attempt after it)
};

[[nodiscard]] const char* to_string(Cause cause);
[[nodiscard]] std::optional<Cause> cause_from(std::string_view text);

}  // namespace dts::run
