// SPDX-License-Identifier: Apache-2.0
// Groups of GPUs that are as near each other as can be. Pure. Private to core/plan.
#pragma once

#include "core/topo/topology.hpp"

#include <utility>
#include <vector>

namespace dts::plan {

// Groups in each way ascending; never empty. False: the search was cut short.
using GpuWays = std::pair<std::vector<std::vector<std::vector<unsigned>>>, bool>;

// The ways to give each of `ranks` ranks as many of `gpus` as the others that are the best as
// GpusApart counts. GPUs that are alike to every core and to every other GPU are told apart by
// their order only. `gpus`: ascending, no fewer than ranks.
[[nodiscard]] GpuWays nearest_groups(const topo::NodeTopology& topology,
                                     const std::vector<unsigned>& gpus,
                                     unsigned ranks);

}  // namespace dts::plan
