// SPDX-License-Identifier: Apache-2.0
// Equivalent GPUs. Pure. Private to core/plan.
#pragma once

#include "core/plan/gpus/gpus_apart.hpp"

#include <cstddef>
#include <vector>

namespace dts::plan {

// For each position in `gpus`, the position of the first equivalent GPU: in the same part of the
// node, with the same links and distances to all others, and with adapters at the same distances.
[[nodiscard]] std::vector<std::size_t> alike_gpus(const topo::NodeTopology& topology,
                                                  const GpuPairs& pairs,
                                                  const std::vector<unsigned>& gpus);

}  // namespace dts::plan
