// SPDX-License-Identifier: Apache-2.0
// Groups of GPUs that span as few parts of a node as possible. Pure. Private to core/plan.
#pragma once

#include "core/topo/topology.hpp"

#include <cstddef>
#include <vector>

namespace dts::plan {

// How a group is completed from several parts of the node.
enum class Filling {
  fitting,   // with the largest parts that fit whole, otherwise with some of the smallest
  in_order,  // with the largest parts, of which the last may be divided
};

// Forms groups from the bottom up: behind one switch, behind one host bridge, in one NUMA node, in
// one package. GPUs that are left over at a level move up together. No other way has fewer groups
// that cross a boundary at any level, because a part with p GPUs has p/s complete groups of s,
// whichever they are. The GPUs in each group, and the groups, are in ascending order. `gpus`:
// ascending, at least `ranks` x `each`.
[[nodiscard]] std::vector<std::vector<unsigned>> pack_gpus(const topo::NodeTopology& topology,
                                                           const std::vector<unsigned>& gpus,
                                                           unsigned ranks,
                                                           std::size_t each,
                                                           Filling filling = Filling::fitting);

}  // namespace dts::plan
