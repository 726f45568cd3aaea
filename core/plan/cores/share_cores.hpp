// SPDX-License-Identifier: Apache-2.0
// Divides the cores of a node among ranks whose GPUs are known. Pure.
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

// The part of bind_node() that divides cores: sets home, annex and gpus of each rank, but not
// `cpus`. `gpus`: those of each local rank, as indices into topology.gpus; for a rank without GPUs,
// every core is near. `most`: the maximum number of cores per rank. With fewer cores than ranks,
// each rank has one, near if possible, on a hardware thread of its own if there are enough;
// otherwise the numbers of ranks that cores serve for each of their threads differ by at most one.
// `smt`: see BindRequest. Home distance, equal shares and then mean distance are optimal, found as
// a minimum-cost flow between L3s and groups of ranks whose GPUs are in the same places. On hybrid
// processors, a slow core is a home core only if there are no others.
[[nodiscard]] std::vector<RankBinding> share_cores(const topo::NodeTopology& topology,
                                                   const std::vector<std::vector<unsigned>>& gpus,
                                                   unsigned most = 1U << 30,
                                                   unsigned smt = 0);

// The minimum mean distance if cores are divided equally, regardless of home and annex.
[[nodiscard]] double least_mean_distance(const topo::NodeTopology& topology,
                                         const std::vector<std::vector<unsigned>>& gpus,
                                         unsigned most = 1U << 30,
                                         unsigned smt = 0);

}  // namespace dts::plan
