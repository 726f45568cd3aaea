// SPDX-License-Identifier: Apache-2.0
// The cluster of a plan: its nodes and partitions, and what the site gives a job.
#pragma once

#include "core/base/billing.hpp"
#include "core/base/job_limit.hpp"
#include "core/base/memory_rules.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::plan {

// What is known about the cluster before submission; empty vectors mean "unknown".
struct ClusterView {
  struct Node {
    std::string name;
    unsigned cpus = 0;  // all of them, as the scheduler counts them
    unsigned gpus = 0;
    std::uint64_t memory_mib = 0;
    bool up = true;  // false: down, drained or failed; it may be back before the job begins
    std::map<std::string, unsigned> gpu_types{};  // of the GPUs whose type the site names
    unsigned reserved_cpus = 0;                   // of `cpus`, for the system
    unsigned cpus_per_core = 1;                   // at least 1
  };

  // A node that jobs should avoid if they can.
  struct Avoided {
    std::string name;
    std::string why;  // "in quarantine until ..."
  };

  struct Partition {
    std::string name;
    bool is_default = false;
    std::vector<std::string> nodes;
    std::chrono::seconds max_time{0};      // 0: unknown; seconds::max(): none
    std::chrono::seconds default_time{0};  // of a job without --time; 0: none, or unknown
    // Of a job; 0: no limit.
    unsigned min_nodes = 0;
    unsigned max_nodes = 0;
    unsigned max_cpus_per_node = 0;
    std::uint64_t max_memory_mib = 0;     // of each node
    std::optional<MemoryRules> memory{};  // absent: not known
    unsigned cpus_per_gpu = 0;            // of a job that requests no number of CPUs; 0: no default
    std::optional<BillingWeights> billing{};  // absent: processors are billed
    std::vector<JobLimit> limits{};           // of this user's jobs there
    bool up = true;                           // false: jobs may wait in it, none starts now
  };

  std::vector<Node> nodes;
  std::vector<Partition> partitions;
  std::vector<Avoided> avoided;      // longest avoided first
  std::uint32_t max_array_size = 0;  // upper bound of array indices, exclusive; 0: unknown
  BillingRule billing_rule = BillingRule::sum;
  bool may_change_jobs = false;  // the site's rules may change a job: its limits may be others
  // That srun starts (MaxTasksPerNode in slurm.conf(5)); 0: unknown.
  std::uint32_t max_step_ranks_per_node = 0;
  bool one_rank_per_core = false;  // unless the job has --ntasks-per-core
};

}  // namespace dts::plan
