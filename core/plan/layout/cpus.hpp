// SPDX-License-Identifier: Apache-2.0
// How many CPUs of a node a job can have, as Slurm counts them. Pure, thread-safe.
#pragma once

#include "core/plan/plan.hpp"
#include "core/spec/job_spec.hpp"
#include "core/topo/topology.hpp"

#include <optional>
#include <string>

namespace dts::plan {

// The hardware threads of each core that the job uses, from --threads-per-core, the T of
// --extra-node-info S:C:T, or --hint: 1, unless it is `multithread` (sbatch(1)). 0: all.
[[nodiscard]] unsigned threads_per_core(const spec::JobSpec& spec);

// How many CPUs one core of a node is: as the cluster counts them, otherwise the hardware threads
// of `node`. At least 1.
[[nodiscard]] unsigned cpus_per_core(const ClusterView& cluster, const topo::NodeTopology& node);

// The cores that a rank with that many CPUs has of a node with `cpus_per_core`.
[[nodiscard]] unsigned whole_cores(unsigned cpus,
                                   const spec::JobSpec& spec,
                                   unsigned cpus_per_core);

// The CPUs of a node that the ranks of a job surely get if they request them: without those that
// are reserved for the system (CoreSpecCount and CpuSpecList in slurm.conf(5), --core-spec,
// --thread-spec), of each core as many as the job uses, and of these at most `limit`
// (MaxCPUsPerNode of the partition; 0: none). 0: unknown.
[[nodiscard]] unsigned sure_cpus(const ClusterView::Node& node,
                                 const spec::JobSpec& spec,
                                 unsigned limit);

// The same, but never less than they may get: a site that permits it lets a job that sets
// --core-spec or --thread-spec change what is reserved.
[[nodiscard]] unsigned possible_cpus(const ClusterView::Node& node,
                                     const spec::JobSpec& spec,
                                     unsigned limit);

// Each rank takes a multiple of this many CPUs of a node: those of a core, if no two ranks share a
// core (--ntasks-per-core=1, or by default on a site with CR_ONE_TASK_PER_CORE in slurm.conf(5),
// which `one_rank_per_core` says), otherwise 1.
[[nodiscard]] unsigned rank_unit(const ClusterView::Node& node,
                                 const spec::JobSpec& spec,
                                 bool one_rank_per_core);

// `cpus` rounded up to a multiple of `unit`.
[[nodiscard]] constexpr unsigned in_units(unsigned cpus, unsigned unit) {
  return (cpus + unit - 1) / unit * unit;
}

struct CpuLimit {
  unsigned cpus = 0;  // of each rank, at least 1
  std::string why;    // "MaxTRESPerJob=cpu=8"
};

// The most CPUs for each rank, given the nodes and ranks of `plan`; nullopt: no limit, or not even
// one CPU for each.
[[nodiscard]] std::optional<CpuLimit> most_cpus_per_rank(const Plan& plan,
                                                         const spec::JobSpec& spec,
                                                         const ClusterView& cluster);

}  // namespace dts::plan
