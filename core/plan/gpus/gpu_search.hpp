// SPDX-License-Identifier: Apache-2.0
// Groups of GPUs that are the best for what ranks talk over, and then for near cores. Pure.
// Private to core/plan.
#pragma once

#include "core/plan/cores/fewest_near.hpp"
#include "core/topo/topology.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace dts::plan {

// Groups in each way ascending; never empty. False: the search was cut short.
using GpuWays = std::pair<std::vector<std::vector<std::vector<unsigned>>>, bool>;

// The best ways to give each of `ranks` ranks `each` of `gpus` (there must be enough), in ascending
// order: those with the shortest paths between GPUs of one rank (compare_ways), among these those
// with the most near cores for the rank with the fewest, among these those in the fewest NUMA nodes
// and with the shortest PCI paths. GPUs that are equivalent for every core and every other device
// differ only in their order.
[[nodiscard]] GpuWays nearest_groups(const topo::NodeTopology& topology,
                                     const std::vector<unsigned>& gpus,
                                     unsigned ranks,
                                     std::size_t each,
                                     const FewestNear& near);

}  // namespace dts::plan
