// SPDX-License-Identifier: Apache-2.0
// Links between GPUs of different ranks: which ranks of a node can exchange data without PCI. Pure,
// thread-safe.
#pragma once

#include "core/plan/plan.hpp"

#include <vector>

namespace dts::plan {

// For each local rank its links, in the order of the other ranks. `gpus_of` has each rank's GPUs,
// indices in NodeTopology::gpus.
[[nodiscard]] std::vector<std::vector<RankLink>> rank_links(
    const topo::NodeTopology& node, const std::vector<std::vector<unsigned>>& gpus_of);

}  // namespace dts::plan
