// SPDX-License-Identifier: Apache-2.0
// A private cluster with a training job for drills. It lives as long as the object.
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
  // Three nodes of two simulated GPUs, started with SLURM_CONF of this process set to them; the
  // runs lie below a new temporary folder, on a file system of their own where we may mount one.
  // `dttrain`: the trainer's path. Errors: those of cluster::up and of the undisturbed training
  // that the drills are compared with; interrupted.
  [[nodiscard]] static Result<std::unique_ptr<Ground>> prepare(std::string dttrain);

  // Takes the cluster down with all that runs there, and removes the folder but for what was kept.
  // What cannot be undone is said on standard error.
  ~Ground();
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  // A job of two nodes, until its training has a checkpoint to fall back to and is half way to the
  // next one. Errors: submission's, interrupted, io where it does not get there, at once where its
  // run has ended.
  [[nodiscard]] Result<Target> train();

  // The run of the last train(); without a path if it was not submitted.
  [[nodiscard]] const run::RunDirectory& run() const { return run_; }

  // The output of `dtsubmit why` for it; may be empty.
  [[nodiscard]] std::string why() const;

  [[nodiscard]] sched::Scheduler& scheduler() const { return *scheduler_; }

  [[nodiscard]] const std::string& undisturbed() const { return undisturbed_; }  // digest

  // A job of higher priority that takes all nodes for a second.
  [[nodiscard]] Result<void> preempt() const;
  // See cluster::lose_node.
  [[nodiscard]] Result<void> lose(const std::string& node) const;

  [[nodiscard]] bool can_fill_disk() const { return mounted_; }

  [[nodiscard]] Result<void> fill_disk() const;
  [[nodiscard]] Result<void> free_disk() const;

  // Waits until the run is done and its job over; gives its digest. Errors: interrupted; io where
  // it is not done in time, or ends otherwise.
  [[nodiscard]] Result<std::string> finish(const run::RunDirectory& run) const;

  // Ends the job of the last train() and removes its run, for the next one's sake. With `keep` the
  // run, and what the cluster's daemons logged, lie where they outlive the ground: there; empty
  // where they could not be kept.
  std::string clear(bool keep);

 private:
  Ground() = default;
  [[nodiscard]] Result<void> start(std::string dttrain);
  [[nodiscard]] Result<void> train_undisturbed();
  [[nodiscard]] std::vector<std::string> training(const std::string& pause) const;
  [[nodiscard]] std::string keep_run();

  std::string place_;    // temporary, ours alone
  std::string cluster_;  // folder of the private cluster; empty: not started
  std::string dttrain_;
  std::string undisturbed_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  run::RunDirectory run_;
  bool mounted_ = false;
  bool kept_ = false;
};

}  // namespace dts::drill
