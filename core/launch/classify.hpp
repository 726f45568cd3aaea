// SPDX-License-Identifier: Apache-2.0
// Why a job is being stopped, read from the scheduler's record of it. Pure.
#pragma once

#include "core/run/cause.hpp"
#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace dts::launch {

// What the record of the job alone does not tell.
struct Surroundings {
  bool a_node_is_down = false;  // a lost node, not a requeue by hand
  // The controller was started again after the job's steps had been signalled: a preemption that it
  // had begun it may not know of any more. It will begin it anew, and nobody else signals steps
  // without ending the job.
  bool reason_is_lost = false;
};

// The cause that `job` shows, else `observed`. Measured on Slurm 22.05: at the moment of the signal
// one record tells cancel, time limit, requeue and preemption apart (a preempted job is RUNNING
// with preempt_time set during its grace time, PENDING with it set after; see classify.cpp for the
// table).
[[nodiscard]] run::Cause classify(run::Cause observed,
                                  const sched::JobInfo& job,
                                  const Surroundings& around);

// True once the scheduler has put the job back into the queue by itself.
[[nodiscard]] bool is_requeued(const sched::JobInfo& job);

}  // namespace dts::launch
