// SPDX-License-Identifier: Apache-2.0
// The cores of a node for ranks whose GPUs are known. Pure.
#pragma once

#include "core/plan/cores/node_binding.hpp"
#include "core/topo/topology.hpp"

#include <cstdint>

namespace dts::plan {

// Keeps distances whole numbers for any number of GPUs per rank: 840 is divisible by 1 to 8.
inline constexpr std::int64_t k_unit = 840;

// The mean distance of a core from a rank's GPUs, in 1/k_unit; 0 for a rank without GPUs.
[[nodiscard]] std::int64_t mean_distance(const topo::NodeTopology& topology,
                                         const std::vector<unsigned>& gpus,
                                         unsigned core);

// The cores' part of bind_node(): home, annex and gpus of each rank, no `cpus`. `gpus`: of each
// local rank, indices into topology.gpus; a rank without any is near every core. `most`: cores a
// rank gets at the utmost. Where there are fewer cores than ranks, each rank has one, near, and no
// core has two ranks more than another. Home distance, equal shares and then mean distance are
// optimal: a minimum-cost flow between L3s and ranks with the same GPUs' places. On hybrid
// processors a slow core is no home core while there are others.
[[nodiscard]] std::vector<RankBinding> share_cores(const topo::NodeTopology& topology,
                                                   const std::vector<std::vector<unsigned>>& gpus,
                                                   unsigned most = 1U << 30);

// The least mean distance that cores shared out equally can have, whatever is home and annex then.
[[nodiscard]] double least_mean_distance(const topo::NodeTopology& topology,
                                         const std::vector<std::vector<unsigned>>& gpus,
                                         unsigned most = 1U << 30);

}  // namespace dts::plan
