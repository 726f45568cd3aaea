// SPDX-License-Identifier: Apache-2.0
// The request to bind a node's ranks to its cores, GPUs and network adapters, and the result. Plain
// data.
#pragma once

#include "core/spec/bind.hpp"

#include <string>
#include <vector>

namespace dts::plan {

// The number of a rank's cores that must be near its GPUs before any other criterion counts. They
// are for its main thread, NCCL's proxy threads and the threads that copy to the GPU.
inline constexpr unsigned k_home_cores = 4;

using spec::BindPolicy;

struct BindRequest {
  unsigned ranks = 1;
  BindPolicy policy = BindPolicy::automatic;
  unsigned smt = 0;                        // of each core; 0: all
  unsigned cores_per_rank = 0;             // 0: as many as there are
  std::vector<unsigned> gpus{};            // the job's, indices into NodeTopology::gpus, ascending
  std::vector<std::vector<unsigned>> map;  // OS indices of PUs by local rank, cyclic
  // The GPUs of each rank if the launcher has assigned them; empty: bind_node() assigns them.
  std::vector<std::vector<unsigned>> gpus_of{};
};

struct RankBinding {
  std::vector<unsigned> home;   // indices into NodeTopology::cores, ascending: nearest its GPUs
  std::vector<unsigned> annex;  // the others it may use, for data loaders
  std::vector<unsigned> gpus;   // indices into NodeTopology::gpus, ascending
  std::vector<unsigned> nics;   // indices into NodeTopology::nics, ascending: one for each GPU or
                                // fewer, one without GPU; empty if the node has none
  std::vector<unsigned> cpus;   // OS indices of PUs of home and annex, ascending
  std::vector<unsigned> numas;  // of the nearest home cores: indices into NodeTopology::numas
};

// The scores of a binding. Distances are means of topo::distance() over cores and their rank's
// GPUs; those of adapters are topo::Path from the nearest of the rank's GPUs (from its home cores
// if it has none: node, pkg or sys).
struct BindingScore {
  // How far apart the GPUs of a rank are: GpusApart, sums over ranks.
  unsigned gpu_packages = 0;   // packages beyond one that a rank's GPUs are in
  unsigned linked = 0;         // weights of the links within ranks: the more, the better
  unsigned gpu_crossings = 0;  // switches and processors between each two GPUs of a rank
  unsigned gpu_numas = 0;      // NUMA nodes beyond one that a rank's GPUs are in
  unsigned gpu_paths = 0;      // topo::Path between each two GPUs of a rank
  // Near cores (NearCores) of each rank, ascending. The lexicographically greater list is better:
  // more for the rank with the fewest, then for the one with the second fewest, ...
  std::vector<unsigned> near_cores{};
  // Mean over each rank's best k_home_cores, or over the number that all ranks could have if this
  // is less. A missing core counts as farther than any other.
  double home_distance = 0;
  double mean_distance = 0;
  double farthest_home = 0;  // home distance of the worst-off rank
  unsigned worst_distance = 0;
  unsigned fewest_cores = 0;  // cores of the rank with the fewest
  unsigned most_cores = 0;
  unsigned unused_cores = 0;
  unsigned shared_cores = 0;  // cores that several ranks use
  unsigned package_span = 0;  // packages that a rank has cores in, sum over ranks
  unsigned shared_l3 = 0;     // L3s with cores of more than one rank
  unsigned numa_load = 0;     // the most ranks with cores in one NUMA node
  unsigned numa_span = 0;     // NUMA nodes that a rank has cores in, sum over ranks
  double nic_distance = 0;    // mean over ranks
  unsigned nic_load = 0;      // the most ranks on one adapter

  bool operator==(const BindingScore&) const = default;
};

struct NodeBinding {
  std::vector<RankBinding> ranks;  // by local rank
  BindingScore score;
  // The best value of each score by itself in any binding that shares no core and does not separate
  // a rank's GPUs needlessly.
  BindingScore bound;
  std::vector<std::string> reasons;   // why the binding is as it is, one sentence each
  std::vector<std::string> warnings;  // requirements that cannot be met, and what to do
};

}  // namespace dts::plan
