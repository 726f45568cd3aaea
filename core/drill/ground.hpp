// SPDX-License-Identifier: Apache-2.0
// A private cluster with a training job for drills, which exists as long as the object.
#pragma once

#include "core/base/result.hpp"
#include "core/drill/reach.hpp"
#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dts::drill {

inline constexpr std::int64_t k_ground_interval = 10;  // steps between two checkpoints

class Ground {
 public:
  // Starts three nodes with two simulated GPUs each, and sets this process's SLURM_CONF
  // accordingly. Runs are stored below a new temporary folder, on a file system of their own if we
  // may mount one. `dttrain`: the trainer's path. Errors: those of cluster::up and of the
  // undisturbed training with which the drills are compared; interrupted.
  [[nodiscard]] static Result<std::unique_ptr<Ground>> prepare(std::string dttrain);

  // Takes the cluster down with everything that runs there, and removes the folder except what was
  // kept. Failures are reported on standard error.
  ~Ground();
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  // Starts a job on two nodes. Returns when its training has a checkpoint to fall back to and is
  // half way to the next one. Errors: those of submission; interrupted; io if the training does not
  // get there (at once if its run has ended).
  [[nodiscard]] Result<Target> train();

  // The run of the last train(); its path is empty if the job was not submitted.
  [[nodiscard]] const run::RunDirectory& run() const { return run_; }

  // The output of `dtsubmit why` for that run; may be empty.
  [[nodiscard]] std::string why() const;

  [[nodiscard]] sched::Scheduler& scheduler() const { return *scheduler_; }

  [[nodiscard]] const std::string& undisturbed() const { return undisturbed_; }  // digest

  // Submits a job of higher priority, which takes all nodes for a second.
  [[nodiscard]] Result<void> preempt() const;
  // See cluster::lose_node.
  [[nodiscard]] Result<void> lose(const std::string& node) const;

  [[nodiscard]] bool can_fill_disk() const { return mounted_; }

  [[nodiscard]] Result<void> fill_disk() const;
  [[nodiscard]] Result<void> free_disk() const;

  // Waits until the run is done and its job has ended; returns its digest. Errors: interrupted; io
  // if it is not done in time or ends in another way.
  [[nodiscard]] Result<std::string> finish(const run::RunDirectory& run) const;

  // Ends the job of the last train() and removes its run, to make room for the next. With `keep`,
  // the run and the logs of the cluster's daemons are moved to a place where they outlive the
  // ground. Returns that place; empty if they could not be kept.
  std::string clear(bool keep);

 private:
  Ground() = default;
  [[nodiscard]] Result<void> start(std::string dttrain);
  [[nodiscard]] Result<void> train_undisturbed();
  [[nodiscard]] std::vector<std::string> training(const std::string& pause) const;
  [[nodiscard]] std::string keep_run();

  std::string place_;    // temporary, owned by us alone
  std::string cluster_;  // folder of the private cluster; empty: not started
  std::string dttrain_;
  std::string undisturbed_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  run::RunDirectory run_;
  bool mounted_ = false;
  bool kept_ = false;
};

}  // namespace dts::drill
