// SPDX-License-Identifier: Apache-2.0
// Groups of GPUs that are best for communication within each rank, and then for near cores. Pure.
// Private to core/plan.
#pragma once

#include "core/plan/cores/fewest_near.hpp"
#include "core/topo/topology.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace dts::plan {

// The ways, never empty, with ascending GPUs in each group; and false if the search was cut short.
using GpuWays = std::pair<std::vector<std::vector<std::vector<unsigned>>>, bool>;

// The best ways to give each of `ranks` ranks `each` of `gpus` (there must be enough), in ascending
// order: those with the shortest paths between the GPUs of a rank (compare_ways), among these those
// with the most near cores for the worst-off rank, then those in the fewest NUMA nodes and with the
// shortest PCI paths. GPUs that are equivalent for every core and every other device differ only in
// their order.
[[nodiscard]] GpuWays nearest_groups(const topo::NodeTopology& topology,
                                     const std::vector<unsigned>& gpus,
                                     unsigned ranks,
                                     std::size_t each,
                                     const FewestNear& near);

}  // namespace dts::plan
