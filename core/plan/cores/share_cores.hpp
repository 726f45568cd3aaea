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

// The part of bind_node() for cores: home, annex and gpus of each rank, but not `cpus`. `gpus`: of
// each local rank, indices into topology.gpus; every core is near a rank without GPUs. `most`: the
// maximum number of cores of a rank. With fewer cores than ranks, each rank has one, near if
// possible, on a hardware thread of its own if there are enough, and otherwise no core has two
// ranks more than another for each of its threads. Home distance, equal shares and then mean
// distance are optimal: a minimum-cost flow between L3s and groups of ranks whose GPUs are in the
// same places. On hybrid processors, a slow core is a home core only if there are no others.
[[nodiscard]] std::vector<RankBinding> share_cores(const topo::NodeTopology& topology,
                                                   const std::vector<std::vector<unsigned>>& gpus,
                                                   unsigned most = 1U << 30);

// The minimum mean distance if cores are divided equally, regardless of home and annex.
[[nodiscard]] double least_mean_distance(const topo::NodeTopology& topology,
                                         const std::vector<std::vector<unsigned>>& gpus,
                                         unsigned most = 1U << 30);

}  // namespace dts::plan
