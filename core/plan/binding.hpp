// SPDX-License-Identifier: Apache-2.0
// Which cores of a node each of its ranks gets. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <vector>

namespace dts::plan {

// How many cores of a rank have to be near its GPUs before anything else counts: for its main
// thread, NCCL's proxy threads and what copies to the GPU.
inline constexpr unsigned k_home_cores = 4;

// Of one rank, as indices into NodeTopology::cores, ascending.
struct CoreShare {
  std::vector<unsigned> home;   // near its GPUs: in their NUMA node, and the best k_home_cores
  std::vector<unsigned> annex;  // the others it may use, for data loaders
};

// The best shares for one node. `gpus`: of each local rank, indices into topology.gpus; a rank
// without any is near every core. In this order: each core belongs to one rank (unless there are
// fewer cores than ranks: then rank i of n has core i*C/n); the home cores are near, in sum over
// ranks and their GPUs (topo::distance()); ranks have the same number of cores, or one more; every
// core is used; all cores are near; neighbours in hwloc's order stay together. The first three are
// optimal, by a minimum-cost flow between NUMA nodes, L3s and ranks with the same GPUs' places.
[[nodiscard]] std::vector<CoreShare> share_cores(const topo::NodeTopology& topology,
                                                 const std::vector<std::vector<unsigned>>& gpus);

// What a binding is worth; distances are topo::distance(), means over cores and their rank's GPUs.
struct BindingScore {
  double home_distance = 0;  // of each rank's best k_home_cores
  double mean_distance = 0;
  unsigned worst_distance = 0;
  unsigned fewest_cores = 0;  // of a rank
  unsigned most_cores = 0;
  unsigned unused_cores = 0;
  unsigned shared_l3 = 0;  // L3s with cores of more than one rank

  bool operator==(const BindingScore&) const = default;
};

[[nodiscard]] BindingScore score(const topo::NodeTopology& topology,
                                 const std::vector<std::vector<unsigned>>& gpus,
                                 const std::vector<CoreShare>& shares);

}  // namespace dts::plan
