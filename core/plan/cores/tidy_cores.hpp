// SPDX-License-Identifier: Apache-2.0
// Keeps each rank's cores together. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace dts::plan {

// Cores that are at the same distance from every GPU.
struct CoreGroup {
  unsigned package = 0, numa = 0;
  std::optional<unsigned> l3{};
  std::vector<unsigned> cores;  // indices into NodeTopology::cores, ascending
};

// The relation of a group of cores to a rank, ordered from best to worst.
struct Reach {
  bool is_far = false;        // not near, according to NearCores
  std::int64_t distance = 0;  // in 1/k_unit; a slow core's exceeds that of any fast core

  auto operator<=>(const Reach&) const = default;
};

// How many cores each rank has in each group.
struct CoreShares {
  std::vector<CoreGroup> groups;
  std::vector<std::vector<Reach>> reaches;    // of each rank, to each group
  std::vector<std::vector<unsigned>> counts;  // of each rank, in each group
  unsigned home_cores = 0;                    // number of home cores of each rank
};

// Exchanges cores between ranks, and with unused ones, if that (in this order) brings the home
// cores of the worst-off rank nearer, makes ranks span fewer packages, lets fewer L3s have several
// ranks, makes NUMA nodes serve fewer ranks, or makes ranks span fewer NUMA nodes. No exchange
// takes a near core from the rank with the fewest, increases the total distance of home cores,
// makes the division of near cores less fair, or increases the total distance of all cores. Ranks
// keep their numbers of cores, except that two that differ by one may swap them. It stops when no
// step is better, or after some thousand attempts. Deterministic. No group may have more users than
// cores.
void tidy_cores(CoreShares& shares);

}  // namespace dts::plan
