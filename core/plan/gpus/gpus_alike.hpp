// SPDX-License-Identifier: Apache-2.0
// GPUs that nothing tells apart. Pure. Private to core/plan.
#pragma once

#include "core/plan/gpus/gpus_apart.hpp"

#include <cstddef>
#include <vector>

namespace dts::plan {

// By place in `gpus`, the place of the first that is alike: in the same part of the node, linked
// and near as much to every other of them, and with adapters at the same distances.
[[nodiscard]] std::vector<std::size_t> alike_gpus(const topo::NodeTopology& topology,
                                                  const GpuPairs& pairs,
                                                  const std::vector<unsigned>& gpus);

}  // namespace dts::plan
