// SPDX-License-Identifier: Apache-2.0
// How many cores of each part of a node each rank gets. Pure.
#pragma once

#include "core/base/text/alike.hpp"
#include "core/plan/cores/tidy_cores.hpp"
#include "core/topo/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::plan {

// Ranks that are equivalent for every core: their relation to each group of cores.
using RankClass = Alike<std::vector<Reach>>;

// Equivalent cores, in the order of the first one of each group.
[[nodiscard]] std::vector<CoreGroup> group_cores(const topo::NodeTopology& topology);

// `gpus`: the GPUs of each rank.
[[nodiscard]] std::vector<RankClass> classify_ranks(const topo::NodeTopology& topology,
                                                    const std::vector<CoreGroup>& groups,
                                                    const std::vector<std::vector<unsigned>>& gpus);

// A slow core of a hybrid processor counts as farther than any faster one.
[[nodiscard]] std::int64_t slow_distance();

// Each rank gets `each` cores, of which `home` are home cores, and `extra` ranks get one more. Each
// core serves `full` ranks; if there are fewer cores than ranks, some serve one more.
struct CoreQuota {
  std::int64_t each = 1, home = 1, extra = 0, full = 1;
  bool crowded = false;
};

// `most`: the maximum number of cores of a rank.
[[nodiscard]] CoreQuota core_quota(std::size_t cores, std::size_t ranks, std::size_t most);

// The criteria to minimise, in lexicographic order.
enum class CoreAim {
  fair,     // near cores that the rank with the fewest lacks, distances of home cores, near cores
            // that the rank with the second fewest lacks, ..., all distances
  distance  // all distances
};

// The number of cores of each class in each group: a minimum-cost flow, and so an optimum.
[[nodiscard]] std::vector<std::vector<std::int64_t>> core_amounts(
    const std::vector<RankClass>& classes,
    const std::vector<CoreGroup>& groups,
    const CoreQuota& quota,
    CoreAim aim);

}  // namespace dts::plan
