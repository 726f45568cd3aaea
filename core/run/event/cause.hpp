// SPDX-License-Identifier: Apache-2.0
// Why an attempt ended. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace dts::run {

enum class Cause {
  completed,        // every rank's program exited 0
  preempted,        // the scheduler wants the nodes for another job
  time_limit,       // the job's time is (nearly) over
  cancelled,        // scancel
  requeued,         // put back by hand: the scheduler says so by state alone
  node_failed,      // put back because a node of it failed
  stopped,          // asked to: `dtsubmit stop`, an interrupt, or our own trouble
  signalled,        // told to end by a signal that nothing explains: perhaps a preemption
  checkpointed,     // the program asked by itself to be run again (exit 85)
  no_restart,       // the program asked not to be run again (exit 93)
  rank_killed,      // a rank ended by a signal, or its process vanished
  out_of_memory,    // of the host (the kernel killed it, or it said so) or of a GPU
  gpu_error,        // a GPU failed under it
  comm_timeout,     // its communicator waited too long, or lost a peer
  rendezvous,       // the ranks did not find each other, or the program's own store failed
  hang,             // no progress for too long
  damaged,          // every checkpoint is damaged, so that the program would begin anew
  disk_full,        // no space or quota left
  no_program,       // the program is not there, or cannot be executed
  user_exit,        // a rank's program exited with another code
  launcher_died,    // mpirun ended before its ranks
  launch_failed,    // not all ranks said hello, or one could not start its program
  wrong_ranks,      // the set of ranks is not what was planned
  second_launcher,  // the program starts its ranks itself, and was started more than once
  wrong_binding,    // a rank is not where the plan has it, and the job asked for that (strict)
  fenced,           // a newer attempt owns the run directory
  run_vanished,     // its run directory was removed, moved or unmounted under it
  run_damaged,      // a file of the run directory that it needs is gone or cannot be read
  agent_lost,       // the agent itself vanished (found by the attempt after it)
};

[[nodiscard]] const char* to_string(Cause cause);
[[nodiscard]] std::optional<Cause> cause_from(std::string_view text);
[[nodiscard]] std::vector<Cause> all_causes();

}  // namespace dts::run
