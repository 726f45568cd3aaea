// SPDX-License-Identifier: Apache-2.0
#include "core/drill/fault.hpp"

namespace dts::drill {

using run::Cause;

const std::vector<FaultFacts>& all_faults() {
  static const std::vector<FaultFacts> k_faults{
      {Fault::preempt,
       "preempt",
       "puts it back into the queue, as Slurm does at the end of a preemption's grace time",
       "a job of a higher priority takes its nodes, after a grace time",
       {Cause::preempted, Cause::requeued},
       true,
       false,
       true},
      {Fault::timeout,
       "timeout",
       "sends its agent the signal with which Slurm announces the time limit (SIGUSR1)",
       nullptr,
       {Cause::time_limit},
       true,
       false,
       true},
      {Fault::rank_kill,
       "rank-kill",
       "kills the program of one rank (SIGKILL)",
       nullptr,
       {Cause::rank_killed},
       false,
       false,
       false},
      {Fault::agent_kill,
       "agent-kill",
       "kills its agent (SIGKILL); its guard starts another one in the same job",
       nullptr,
       {Cause::agent_lost},
       false,
       false,
       true},
      {Fault::hang,
       "hang",
       "stops the program of one rank for good (SIGSTOP)",
       nullptr,
       {Cause::hang},
       false,
       false,
       false},
      {Fault::slow,
       "slow",
       "lets the program of one rank run a fifth of the time only, for 20 s (SIGSTOP, SIGCONT)",
       nullptr,
       {},
       false,
       false,
       false},
      {Fault::disk_full,
       "disk-full",
       "would fill the file system of its run directory, which others use: not available for real "
       "jobs",
       "the small file system of the run directory is filled, then emptied; `dtsubmit requeue`",
       {Cause::disk_full},
       false,
       true,
       true},
      {Fault::node_loss,
       "node-loss",
       "kills all its processes on one of its nodes at once (SIGKILL); the node itself stays up",
       "everything on one node is killed at once, including its slurmd",
       {Cause::rank_killed, Cause::launcher_died, Cause::node_failed, Cause::agent_lost},
       false,
       false,
       true},
  };
  return k_faults;
}

const FaultFacts& facts_of(Fault fault) {
  for (const FaultFacts& facts : all_faults())
    if (facts.fault == fault) return facts;
  return all_faults().front();
}

std::optional<Fault> fault_from(std::string_view name) {
  for (const FaultFacts& facts : all_faults())
    if (name == facts.name) return facts.fault;
  return std::nullopt;
}

}  // namespace dts::drill
