// SPDX-License-Identifier: Apache-2.0
// Why an attempt ended. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace dts::run {

enum class Cause {
  completed,        // every rank's program exited 0
  preempted,        // the scheduler needs the nodes for another job
  time_limit,       // the job's time is (nearly) over
  cancelled,        // scancel
  requeued,         // requeued by hand: only the job's state shows it
  node_failed,      // one of its nodes failed, or was taken out of the job
  stopped,          // on request: `dtsubmit stop`, an interrupt, or a problem of our own
  signalled,        // an unexplained termination signal: perhaps a preemption
  checkpointed,     // the program itself asked to be run again (exit 85)
  no_restart,       // the program asked not to be run again (exit 93)
  rank_killed,      // a rank ended by a signal, or its process vanished
  out_of_memory,    // of the host (killed by the kernel, or reported by the program) or of a GPU
  gpu_error,        // one of its GPUs failed
  gpu_unseen,       // the program took a GPU that its rank did not see, and will see next time
  storage_error,    // a file system failed under the program
  comm_timeout,     // its communicator timed out, or lost a peer
  rendezvous,       // the ranks did not find each other, or the program's own store failed
  hang,             // no progress for too long
  corruption,       // the bits of a rank are wrong, as the trainer found (exit 94)
  damaged,          // every checkpoint is damaged, so the program would start from scratch
  disk_full,        // no space or quota left
  no_program,       // the program is missing or cannot be executed
  set_up_failed,    // a command of the job's set-up of a node failed
  user_exit,        // a rank's program exited with another code
  launcher_died,    // mpirun ended before its ranks
  launch_failed,    // not all ranks said hello, or one could not start its program
  wrong_ranks,      // the set of ranks is not what was planned
  second_launcher,  // the program starts its ranks itself and was started more than once
  wrong_binding,    // a rank is not bound as planned, and the job requires that (strict)
  fenced,           // a newer attempt owns the run directory
  run_vanished,     // its run directory was removed, moved or unmounted
  run_damaged,      // a required file of the run directory is missing or cannot be read
  agent_lost,       // the agent itself vanished (found by the attempt after it)
};

[[nodiscard]] const char* to_string(Cause cause);
[[nodiscard]] std::optional<Cause> cause_from(std::string_view text);
[[nodiscard]] std::vector<Cause> all_causes();

// True if `detail`, of a rendezvous that failed, says that a port is taken: by another job, or by
// the program itself, of which two listen on one port. Not a property of the node.
[[nodiscard]] bool says_port_is_taken(std::string_view detail);

}  // namespace dts::run
