// SPDX-License-Identifier: Apache-2.0
// How many cores each rank gets from each part of a node. Pure.
#pragma once

#include "core/base/text/alike.hpp"
#include "core/plan/cores/tidy_cores.hpp"
#include "core/topo/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::plan {

// Equivalent ranks, which have the same relation to each group of cores.
using RankClass = Alike<std::vector<Reach>>;

// Groups of equivalent cores, in the order of each group's first core.
[[nodiscard]] std::vector<CoreGroup> group_cores(const topo::NodeTopology& topology);

// `gpus`: the GPUs of each rank.
[[nodiscard]] std::vector<RankClass> classify_ranks(const topo::NodeTopology& topology,
                                                    const std::vector<CoreGroup>& groups,
                                                    const std::vector<std::vector<unsigned>>& gpus);

// A slow core of a hybrid processor counts as farther than any faster one.
[[nodiscard]] std::int64_t slow_distance();

// Each rank gets `each` cores, of which `home` are home cores, and `extra` ranks get one more.
struct CoreQuota {
  std::int64_t each = 1, home = 1, extra = 0;
  bool crowded = false;  // there are fewer cores than ranks

  struct Users {
    std::int64_t least = 0, most = 0;  // number of ranks that a core must and may serve

    Users& operator+=(const Users& other);
  };

  std::vector<Users> users{};  // by core if crowded; empty otherwise: a core serves one rank
};

// `most`: the maximum number of cores of a rank. With fewer cores than ranks, no two share a thread
// while another one has none; then no core has two ranks more than another.
[[nodiscard]] CoreQuota core_quota(const topo::NodeTopology& topology,
                                   std::size_t ranks,
                                   std::size_t most);

// The number of ranks that all cores of a group together must and may serve.
[[nodiscard]] CoreQuota::Users users_of(const CoreGroup& group, const CoreQuota& quota);

// The criteria to minimise, in lexicographic order.
enum class CoreAim {
  fair,     // near cores that the rank with the fewest lacks, distances of home cores, near cores
            // that the rank with the second fewest lacks, ..., all distances
  distance  // all distances
};

// The number of cores of each class in each group, found as a minimum-cost flow and therefore
// optimal.
[[nodiscard]] std::vector<std::vector<std::int64_t>> core_amounts(
    const std::vector<RankClass>& classes,
    const std::vector<CoreGroup>& groups,
    const CoreQuota& quota,
    CoreAim aim);

}  // namespace dts::plan
