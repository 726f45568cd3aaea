// SPDX-License-Identifier: Apache-2.0
// Whether a cluster can run a layout, and the properties of the cluster on which the layout
// depends.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/plan/plan.hpp"

#include <chrono>
#include <optional>

namespace dts::plan {

// The time limit that Slurm gives a job without --time.
struct DefaultLimit {
  std::chrono::seconds limit{0};  // 0: none, or not known
  // False: another partition, a limit on jobs or a site's rule may set another one.
  bool is_certain = false;

  // By which a job may be refused.
  [[nodiscard]] std::chrono::seconds for_limits() const {
    return is_certain ? limit : std::chrono::seconds(0);
  }
};

// The nodes on which a job may run, given partition, GPUs and memory.
struct Fit {
  std::string partition;           // its name; empty: unknown
  bool up = true;                  // false: jobs may wait in it, none starts now
  bool is_empty = false;           // it has no nodes
  bool known = false;              // false: nothing is known about the nodes
  unsigned fewest_cpus = 0;        // that a job gets of a node large enough; 0: unknown
  unsigned rank_unit = 1;          // the largest of `nodes`; see cpus.hpp
  bool one_rank_per_core = false;  // as in ClusterView
  // As in the partition.
  DefaultLimit default_limit;
  unsigned max_cpus_per_node = 0;
  std::uint64_t max_memory_mib = 0;
  std::optional<MemoryRules> memory;
  unsigned cpus_per_gpu = 0;
  std::uint64_t mib_per_cpu = 0;         // if that is why `fewest_cpus` are fewer than a node has
  std::vector<ClusterView::Node> nodes;  // those with enough GPUs and memory
  std::vector<ClusterView::Node> all;    // the partition's, whatever their resources
};

// Appends to `problems` whatever the cluster cannot provide.
[[nodiscard]] Fit fit_nodes(const spec::JobSpec& spec,
                            const ClusterView& cluster,
                            Diagnostics& problems);

// The CPUs that a rank with so many takes of any of `nodes` at most.
[[nodiscard]] unsigned taken_cpus(const Fit& fit, unsigned cpus_per_task);

// Appends a problem if fewer than spec.nodes nodes have room for `tasks` x `cpus_per_task`.
void check_cpus(const spec::JobSpec& spec,
                const Fit& fit,
                unsigned tasks,
                unsigned cpus_per_task,
                Diagnostics& problems);

}  // namespace dts::plan
