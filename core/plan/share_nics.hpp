// SPDX-License-Identifier: Apache-2.0
// The network adapters of a node for ranks whose cores and GPUs are known. Pure.
#pragma once

#include "core/plan/binding.hpp"

namespace dts::plan {

// topo::Path between the adapter and the nearest of the rank's GPUs, as a number; of a rank without
// any, from its home cores: node, or sys where the most of them are in another NUMA node.
[[nodiscard]] unsigned nic_distance(const topo::NodeTopology& topology,
                                    const RankBinding& rank,
                                    unsigned nic);

// Those that ranks are to use, as indices: with an active port where ports are known, InfiniBand
// and Omni-Path and Slingshot before Ethernet, of those the fastest. That leaves out ports for
// storage and management, as shared_hcas() does.
[[nodiscard]] std::vector<unsigned> compute_nics(const topo::NodeTopology& topology);

// An adapter for each GPU of each rank, and for each rank without any: in sum as near as can be,
// and then, counted as the squares of their users, as evenly loaded: a minimum-cost flow with
// convex costs.
void share_nics(const topo::NodeTopology& topology, std::vector<RankBinding>& ranks);

}  // namespace dts::plan
