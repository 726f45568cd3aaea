// SPDX-License-Identifier: Apache-2.0
// Assigns the network adapters of a node to ranks whose cores and GPUs are known. Pure.
#pragma once

#include "core/plan/cores/node_binding.hpp"
#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::plan {

// The distance between the adapter and the nearest of the rank's GPUs, a topo::Path as a number.
// For a rank without GPUs it depends on its home cores: node if at least half of them are in the
// adapter's NUMA node, pkg if at least half are in its package, otherwise sys.
[[nodiscard]] unsigned nic_distance(const topo::NodeTopology& topology,
                                    const RankBinding& rank,
                                    unsigned nic);

struct NicChoice {
  struct Left {
    unsigned nic = 0;
    std::string why{};  // "no link", "25 Gb/s, slower"
  };

  std::vector<unsigned> used;  // indices into NodeTopology::nics, ascending
  std::vector<Left> left;      // the other adapters
};

// The adapters that ranks use (best_network() of those that may have a link), and why the others
// are not used.
[[nodiscard]] NicChoice choose_nics(const topo::NodeTopology& topology);

// Returns choose_nics().used.
[[nodiscard]] std::vector<unsigned> compute_nics(const topo::NodeTopology& topology);

// Assigns an adapter to each GPU of each rank, and to each rank without GPUs. Minimises the total
// distance, then the sum of the squares of the adapters' numbers of users, which evens out the
// load. A minimum-cost flow with convex costs. Adapters that would be idle are then assigned as
// well, in turn, to GPUs or ranks that are as near to them as to their own.
void share_nics(const topo::NodeTopology& topology, std::vector<RankBinding>& ranks);

}  // namespace dts::plan
