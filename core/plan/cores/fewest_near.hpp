// SPDX-License-Identifier: Apache-2.0
// How many near cores the worst-off rank can have, computed before cores are assigned. Pure.
// Private to core/plan.
#pragma once

#include "core/plan/cores/core_amounts.hpp"
#include "core/topo/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::plan {

// By Hall's theorem, each rank can have k near cores if and only if every set of ranks has k times
// as many cores near to any of them. Sets that share no core can be examined separately.
class FewestNear {
 public:
  // `gpus`: the GPUs that groups are formed from. `quota`: the cores of each rank.
  FewestNear(const topo::NodeTopology& topology,
             const std::vector<unsigned>& gpus,
             const CoreQuota& quota);

  // `groups`: the GPUs of each rank, as indices into NodeTopology::gpus. The result is never too
  // small. It is exact if at most k_most_sorts sorts of ranks compete for the same cores.
  [[nodiscard]] std::size_t of(const std::vector<std::vector<unsigned>>& groups) const;

  // The same for only some of the groups: an upper bound that holds for more groups, too.
  [[nodiscard]] std::size_t of_some(const std::vector<std::vector<unsigned>>& groups) const;

  static constexpr std::size_t k_most_sorts = 10;

 private:
  using Regions = std::uint64_t;  // a set of regions, one bit each

  // Ranks that are near the same cores.
  struct NearSet {
    Regions near = 0;
    std::size_t ranks = 0;
  };

  [[nodiscard]] std::vector<NearSet> sorts_of(
      const std::vector<std::vector<unsigned>>& groups) const;
  [[nodiscard]] static std::vector<std::vector<NearSet>> components(
      const std::vector<NearSet>& sorts);
  template <class Look>
  static void each_set(const std::vector<NearSet>& sorts, const Look& look);

  // The cores of a region, and how many ranks they must and may serve.
  struct Room {
    std::size_t cores = 0;
    CoreQuota::Users users{};
  };

  [[nodiscard]] Room room_in(Regions regions) const;
  [[nodiscard]] std::size_t in_crowd(const std::vector<std::vector<unsigned>>& groups) const;

  const std::size_t cores_;
  const CoreQuota quota_;
  std::vector<Regions> near_;  // by GPU; all cores of a region are near the same GPUs
  std::vector<Room> rooms_;    // of each region
};

}  // namespace dts::plan
