// SPDX-License-Identifier: Apache-2.0
// Shared by the contract tests: the plug-in's scheduler on the cluster of $SLURM_CONF, and Slurm's
// own commands for comparison.
#pragma once

#include "core/base/os/process.hpp"
#include "core/sched/scheduler.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace contract {

// The only scheduler of this process; fails the test if it cannot be loaded.
[[nodiscard]] dts::sched::Scheduler& scheduler();

// A job with one task that runs `script` in a folder of its own below /tmp, with its output in
// "out".
[[nodiscard]] dts::sched::Submission job_of(const std::string& script);

// The folder for job_of's last job, which is removed when the process ends.
[[nodiscard]] std::string fresh_folder();

// Runs one of Slurm's commands.
[[nodiscard]] dts::Output command(const std::vector<std::string>& argv);

// Calls `holds` 20 times a second until it is true; false after `limit`.
[[nodiscard]] bool eventually(const std::function<bool()>& holds,
                              std::chrono::seconds limit = std::chrono::seconds(40));

// A submitted job that is cancelled when the test leaves its scope.
class Job {
 public:
  // Fails the test if the job is refused.
  explicit Job(const dts::sched::Submission& submission);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  [[nodiscard]] dts::sched::JobId id() const { return id_; }

  [[nodiscard]] dts::sched::JobInfo info() const;
  [[nodiscard]] bool reaches(dts::sched::JobState state) const;

 private:
  dts::sched::JobId id_;
};

}  // namespace contract
