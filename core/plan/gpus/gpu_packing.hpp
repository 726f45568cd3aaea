// SPDX-License-Identifier: Apache-2.0
// Groups of GPUs that are in as few parts of a node as can be. Pure. Private to core/plan.
#pragma once

#include "core/topo/topology.hpp"

#include <cstddef>
#include <vector>

namespace dts::plan {

// Forms groups from the bottom up: behind one switch, one host bridge, in one NUMA node, one
// package. GPUs left over at a level move up together. No other way has fewer groups that cross a
// part at any of these levels: a part of p GPUs has p/s complete groups of s, whichever they are.
// Each group, and the groups, in ascending order. `gpus`: ascending, for `each` of every rank
// enough.
[[nodiscard]] std::vector<std::vector<unsigned>> pack_gpus(const topo::NodeTopology& topology,
                                                           const std::vector<unsigned>& gpus,
                                                           unsigned ranks,
                                                           std::size_t each);

}  // namespace dts::plan
