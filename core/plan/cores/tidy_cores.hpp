// SPDX-License-Identifier: Apache-2.0
// Ranks' cores, kept together. Pure.
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

// The relation of a group of cores to a rank. The best comes first.
struct Reach {
  bool is_far = false;        // not near, as NearCores says
  std::int64_t distance = 0;  // in 1/k_unit; a slow core's is more than any fast one's

  auto operator<=>(const Reach&) const = default;
};

// The cores of a node as ranks have them, by their number in each group.
struct CoreShares {
  std::vector<CoreGroup> groups;
  std::vector<std::vector<Reach>> reaches;    // of each rank, to each group
  std::vector<std::vector<unsigned>> counts;  // of each rank, in each group
  unsigned home_cores = 0;                    // of each rank that count as home
};

// Exchanges cores between ranks, and with those that nobody has, where that brings the home cores
// of the rank that has it worst nearer, or makes ranks lie in fewer packages, fewer L3s have
// several ranks, NUMA nodes serve fewer ranks, ranks lie in fewer NUMA nodes, in this order; where
// it takes no near core from the rank with the fewest, costs no distance of home cores in sum,
// makes the division of near cores no less fair and costs no distance of all cores in sum. Ranks
// keep their numbers of cores, or two that differ by one change them. Steps are taken while one is
// better; after some thousand looks it stays as it is. Deterministic. No group may have more users
// than cores.
void tidy_cores(CoreShares& shares);

}  // namespace dts::plan
