// SPDX-License-Identifier: Apache-2.0
// Why a job is being stopped, read from the scheduler's record of it. Pure.
#pragma once

#include "core/run/cause.hpp"
#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace dts::launch {

// The cause that `job` shows, else `observed`. Measured on Slurm 22.05: at the moment of the signal
// one record tells cancel, time limit, requeue and preemption apart (a preempted job is RUNNING
// with preempt_time set during its grace time, PENDING with it set after; see classify.cpp for the
// table). What tells a lost node from a requeue by hand is that one is down: `a_node_is_down`.
[[nodiscard]] run::Cause classify(run::Cause observed,
                                  const sched::JobInfo& job,
                                  bool a_node_is_down);

// True once the scheduler has put the job back into the queue by itself.
[[nodiscard]] bool is_requeued(const sched::JobInfo& job);

}  // namespace dts::launch
