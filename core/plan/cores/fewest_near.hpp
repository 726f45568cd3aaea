// SPDX-License-Identifier: Apache-2.0
// How many near cores the rank with the fewest can have, before any core is given out. Pure.
// Private to core/plan.
#pragma once

#include "core/plan/cores/core_amounts.hpp"
#include "core/topo/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::plan {

// By Hall's theorem k for each rank, and only then, where every set of ranks has k times as many
// cores that are near to any of them. Sets that share no core need not be looked at together.
class FewestNear {
 public:
  // `gpus`: those that groups may be of. `quota`: of each rank.
  FewestNear(const topo::NodeTopology& topology,
             const std::vector<unsigned>& gpus,
             std::size_t ranks,
             const CoreQuota& quota);

  // With these GPUs of each rank, indices into NodeTopology::gpus. Never too small; exact where no
  // more than k_most_sorts sorts of ranks are near common cores.
  [[nodiscard]] std::size_t of(const std::vector<std::vector<unsigned>>& groups) const;

  // The same with some of the groups only: no smaller than with more of them.
  [[nodiscard]] std::size_t of_some(const std::vector<std::vector<unsigned>>& groups) const;

  static constexpr std::size_t k_most_sorts = 10;

 private:
  using Regions = std::uint64_t;  // a set

  // Ranks that are near the same cores.
  struct Sort {
    Regions near = 0;
    std::size_t ranks = 0;
  };

  [[nodiscard]] std::vector<Sort> sorts_of(const std::vector<std::vector<unsigned>>& groups) const;
  [[nodiscard]] static std::vector<std::vector<Sort>> components(const std::vector<Sort>& sorts);
  template <class Look>
  static void each_set(const std::vector<Sort>& sorts, const Look& look);
  [[nodiscard]] std::size_t cores_in(Regions regions) const;
  [[nodiscard]] std::size_t in_crowd(const std::vector<std::vector<unsigned>>& groups) const;

  std::size_t ranks_, cores_;
  const CoreQuota quota_;
  std::vector<Regions> near_;       // by GPU; each region is near to the same GPUs in whole
  std::vector<std::size_t> sizes_;  // cores of each region
};

}  // namespace dts::plan
