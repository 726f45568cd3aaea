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

// Facts about a job that its record does not contain.
struct Surroundings {
  bool has_down_node = false;  // a node was lost, so it is not a requeue by hand
  // The controller was restarted after the job's steps had been signalled, and may have forgotten a
  // preemption that it had begun. It will begin it again: nothing else signals steps without ending
  // the job.
  bool reason_is_lost = false;
};

// The cause that `job` shows, or `observed` if it shows none. Measured on Slurm 22.05: at the
// moment of the signal, the record distinguishes cancel, time limit, requeue and preemption. A
// preempted job is RUNNING with preempt_time set during its grace time, and PENDING with it set
// afterwards; see the table in classify.cpp.
[[nodiscard]] run::Cause classify(run::Cause observed,
                                  const sched::JobInfo& job,
                                  const Surroundings& around);

// The job's nodes, as its agent and the scheduler know them.
struct JobNodes {
  std::vector<std::string> all;
  std::vector<std::string> down;  // nodes that the scheduler reports down, also those of other jobs
  // The nodes on which ranks of a job with spares ran; empty for any other job. Such a job survives
  // the loss of one of them, which then explains why an attempt crashed.
  std::vector<std::string> used;
  bool reason_is_lost = false;  // see Surroundings
  // Nodes that somebody took out of the running job, see taken_nodes().
  std::vector<std::string> taken{};
};

// Those of `nodes`, the job's nodes when it started, that the record of the running job no longer
// has: `scontrol update` can shrink a job. Empty if the record has none of `nodes`, as the record
// of another component of a heterogeneous job.
[[nodiscard]] std::vector<std::string> taken_nodes(const sched::JobInfo& job,
                                                   const std::vector<std::string>& nodes);

// `outcome` with the cause from classify() and a message that explains it.
[[nodiscard]] run::Outcome explain_by_job(run::Outcome outcome,
                                          const sched::JobInfo& job,
                                          const JobNodes& nodes);

// True once the scheduler has put the job back into the queue by itself.
[[nodiscard]] bool is_requeued(const sched::JobInfo& job);

}  // namespace dts::launch
