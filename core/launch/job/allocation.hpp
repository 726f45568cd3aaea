// SPDX-License-Identifier: Apache-2.0
// The allocation that the scheduler really gave this job, read from the batch script's environment
// (sbatch(1), OUTPUT ENVIRONMENT VARIABLES).
#pragma once

#include "core/base/job_id.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

struct Allocation {
  JobId job{};                 // empty: no scheduler
  unsigned restart_count = 0;  // for people; it is not an attempt number
  std::string node;            // where the agent runs
  std::vector<std::string> nodes;
  std::vector<unsigned> tasks_per_node;
};

// This job's id as the scheduler's commands take it: "4711", or "4711_3" in a job array, whose
// tasks have numbers of their own, too. Empty outside a job.
[[nodiscard]] JobId own_job(const Lookup& lookup);

// Errc::invalid if a variable is missing or malformed, for a heterogeneous job, and for a job whose
// tasks are distributed by a host file: Slurm then does not report how many each node has. The
// order of the nodes means nothing here: since Slurm 26.05 the ranks may follow the network's
// topology instead, and only the ranks themselves know where rank 0 is.
[[nodiscard]] Result<Allocation> slurm_allocation(const Lookup& lookup);
// That of a heterogeneous job: the nodes of its components, in their order. Errors: as above, and
// Errc::invalid for a job that is none.
[[nodiscard]] Result<Allocation> heterogeneous_allocation(const Lookup& lookup);
// Without a scheduler: --hosts, or this machine.
[[nodiscard]] Allocation local_allocation(const plan::Plan& plan);

// Errc::invalid if the allocation is not as planned: another number of nodes, or of tasks on one of
// them. `allocation` comes from slurm_allocation().
[[nodiscard]] Result<void> check_allocation(const Allocation& allocation, const plan::Plan& plan);

}  // namespace dts::launch
