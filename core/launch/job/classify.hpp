// SPDX-License-Identifier: Apache-2.0
// Why a job is being stopped, read from the scheduler's record of it. Pure.
#pragma once

#include "core/run/event/cause.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dts::launch {

// Facts that are not in the job's record.
struct Surroundings {
  bool a_node_is_down = false;  // a lost node, not a requeue by hand
  // The controller was restarted after the job's steps had been signalled, and may have lost a
  // preemption that it had begun. It will begin it again; nothing else signals steps without ending
  // the job.
  bool reason_is_lost = false;
};

// The cause that `job` shows, otherwise `observed`. Measured on Slurm 22.05: at the moment of the
// signal, one record distinguishes cancel, time limit, requeue and preemption (a preempted job is
// RUNNING with preempt_time set during its grace time, PENDING with it set after; see classify.cpp
// for the table).
[[nodiscard]] run::Cause classify(run::Cause observed,
                                  const sched::JobInfo& job,
                                  const Surroundings& around);

// The job's nodes as its agent and the scheduler know them.
struct JobNodes {
  std::vector<std::string> all;
  std::vector<std::string> down;  // also of other jobs
  // The nodes that ranks of a job with spares ran on, empty for any other job. A job with spares
  // survives the loss of one of these nodes, which then explains why an attempt crashed.
  std::vector<std::string> used;
  bool reason_is_lost = false;  // as in Surroundings
};

// `outcome` with the cause from classify(), and a message about it.
[[nodiscard]] run::Outcome explain_by_job(run::Outcome outcome,
                                          const sched::JobInfo& job,
                                          const JobNodes& nodes);

// True once the scheduler has put the job back into the queue by itself.
[[nodiscard]] bool is_requeued(const sched::JobInfo& job);

}  // namespace dts::launch
