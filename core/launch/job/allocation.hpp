// SPDX-License-Identifier: Apache-2.0
// The allocation that the scheduler actually gave this job, read from the batch script's
// environment (sbatch(1), OUTPUT ENVIRONMENT VARIABLES).
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
  unsigned restart_count = 0;  // for display; it is not an attempt number
  std::string node;            // where the agent runs
  std::vector<std::string> nodes;
  std::vector<unsigned> tasks_per_node;
};

// This job's id as the scheduler's commands accept it: "4711", or "4711_3" in a job array, whose
// tasks also have job ids of their own. Empty outside a job.
[[nodiscard]] JobId own_job(const Lookup& lookup);

// Names of variables that give this job's id as a negative number, with the right values. Slurm
// 26.05.5 prints ids from 2^31 on as signed numbers (a federation's 32nd cluster and those after it
// have such ids), and its own srun then refuses to start a step.
[[nodiscard]] std::vector<std::pair<const char*, std::string>> corrected_job_ids(
    const Lookup& lookup);

// Errc::invalid if a variable is missing or malformed, for a heterogeneous job, and for a job whose
// tasks are distributed by a host file, because Slurm then does not report how many tasks each node
// has. The order of the nodes is meaningless: since Slurm 26.05 ranks may follow the network
// topology instead, and only the ranks themselves know where rank 0 is.
[[nodiscard]] Result<Allocation> slurm_allocation(const Lookup& lookup);
// For a heterogeneous job: the nodes of its components, in order. Errors: as for
// slurm_allocation(), and Errc::invalid for any other job.
[[nodiscard]] Result<Allocation> heterogeneous_allocation(const Lookup& lookup);
// Without a scheduler: the plan's --hosts, or this machine.
[[nodiscard]] Allocation local_allocation(const plan::Plan& plan);

// Errc::invalid if the allocation differs from the plan in the number of nodes or in the tasks on
// one of them. `allocation` comes from slurm_allocation().
[[nodiscard]] Result<void> check_allocation(const Allocation& allocation, const plan::Plan& plan);

}  // namespace dts::launch
