// SPDX-License-Identifier: Apache-2.0
// What remains of a job whose batch process was killed: Slurm ends the job, but lets the processes
// of its steps live for KillWait. One of them then has the job started again.
#pragma once

#include "core/base/os/environment.hpp"

#include <sys/types.h>

#include <string>

namespace dts::launch {

// True for a process of Slurm, and for 0, a sender that the kernel does not show.
[[nodiscard]] bool is_of_slurm(pid_t process);

// True for the last process of a Slurm step, according to its variables: on a job's last node,
// while the guard and the agent are on the first.
[[nodiscard]] bool is_last_of_step(const Lookup& lookup);

// `dtsubmit revive`, if it was started. The destructor waits for its end, some 20 s at most unless
// the controller is away, since Slurm kills what a step's process leaves behind.
class Revival {
 public:
  Revival() = default;
  ~Revival();
  Revival(const Revival&) = delete;
  Revival& operator=(const Revival&) = delete;

  // Call it when the agent of this attempt is gone. Only the last process of a step starts
  // anything, so that the scheduler is asked by one process and not by each node.
  void begin(const std::string& run_directory, const std::string& attempt);

  [[nodiscard]] pid_t pid() const { return pid_; }  // 0: not started

 private:
  pid_t pid_ = 0;
};

}  // namespace dts::launch
