// SPDX-License-Identifier: Apache-2.0
// The network adapters of a node for ranks whose cores and GPUs are known. Pure.
#pragma once

#include "core/plan/cores/node_binding.hpp"
#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::plan {

// topo::Path between the adapter and the nearest of the rank's GPUs, as a number; of a rank without
// any, from its home cores: node where at least half of them are in the adapter's NUMA node, pkg
// where so many are in its package, otherwise sys.
[[nodiscard]] unsigned nic_distance(const topo::NodeTopology& topology,
                                    const RankBinding& rank,
                                    unsigned nic);

struct NicChoice {
  struct Left {
    unsigned nic = 0;
    std::string why{};  // "no link", "25 Gb/s, slower"
  };

  std::vector<unsigned> used;  // indices into NodeTopology::nics, ascending
  std::vector<Left> left;      // the others
};

// The adapters that ranks use, and why not the others: best_network() of the adapters that may have
// a link.
[[nodiscard]] NicChoice choose_nics(const topo::NodeTopology& topology);

// The `used` ones.
[[nodiscard]] std::vector<unsigned> compute_nics(const topo::NodeTopology& topology);

// An adapter for each GPU of each rank, and for each rank without any: in sum as near as can be,
// and then, counted as the squares of their users, as evenly loaded: a minimum-cost flow with
// convex costs.
void share_nics(const topo::NodeTopology& topology, std::vector<RankBinding>& ranks);

}  // namespace dts::plan
