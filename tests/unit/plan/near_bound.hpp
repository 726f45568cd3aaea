// SPDX-License-Identifier: Apache-2.0
// How many near cores the rank with the fewest can have at best, by counting sets of ranks. Knows
// nothing of how bind_node() finds its binding.
#pragma once

#include "core/plan/binding/binding.hpp"
#include "core/topo/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace dts::plan {

// In the NUMA node of one of the GPUs, or in the larger part that it hangs from, and of the fastest
// kind.
inline bool is_near(const topo::NodeTopology& node,
                    const std::vector<unsigned>& gpus,
                    std::size_t number) {
  const auto slower = [](const topo::Core& a, const topo::Core& b) { return a.kind < b.kind; };
  const unsigned fastest = std::max_element(node.cores.begin(), node.cores.end(), slower)->kind;
  const topo::Core& core = node.cores[number];
  if (core.kind < fastest) return false;
  return gpus.empty() || std::any_of(gpus.begin(), gpus.end(), [&](unsigned index) {
           const topo::Gpu& gpu = node.gpus[index];
           if (!gpu.group.empty())
             return std::find(gpu.group.begin(), gpu.group.end(), core.numa) != gpu.group.end();
           return gpu.numa ? *gpu.numa == core.numa : !gpu.package || *gpu.package == core.package;
         });
}

inline std::vector<bool> near_cores(const topo::NodeTopology& node,
                                    const std::vector<unsigned>& gpus) {
  std::vector<bool> near;
  for (std::size_t core = 0; core < node.cores.size(); ++core)
    near.push_back(is_near(node, gpus, core));
  return near;
}

// Ranks that have the same near cores, at most 32 sorts of them, and cores that are near the same.
struct Sorts {
  std::vector<unsigned> ranks;              // of each sort
  std::map<std::uint32_t, unsigned> cores;  // by the set of sorts of ranks that they are near to

  Sorts(const topo::NodeTopology& node, const std::vector<std::vector<unsigned>>& gpus) {
    std::map<std::vector<bool>, unsigned> counts;
    std::map<std::vector<unsigned>, std::vector<bool>> known;  // of ranks with the same GPUs
    for (const auto& of_rank : gpus) {
      const auto [place, is_new] = known.try_emplace(of_rank);
      if (is_new) place->second = near_cores(node, of_rank);
      ++counts[place->second];
    }
    REQUIRE(counts.size() <= 32);
    for (std::size_t core = 0; core < node.cores.size(); ++core) {
      std::uint32_t users = 0, sort = 0;
      for (const auto& [near, count] : counts) users |= (near[core] ? 1U : 0U) << sort++;
      ++cores[users];
    }
    for (const auto& [near, count] : counts) ranks.push_back(count);
  }

  // Sorts that are connected by common cores, each group of them as a set.
  [[nodiscard]] std::vector<std::uint32_t> components() const {
    std::vector<std::uint32_t> found;
    for (std::size_t sort = 0; sort < ranks.size(); ++sort) found.push_back(1U << sort);
    for (const auto& row : cores) {
      const std::uint32_t users = row.first;
      std::uint32_t whole = users;
      for (const std::uint32_t one : found)
        if ((one & users) != 0) whole |= one;
      std::erase_if(found, [&](std::uint32_t one) { return (one & users) != 0; });
      if (whole != 0) found.push_back(whole);
    }
    return found;
  }

  [[nodiscard]] std::size_t ranks_in(std::uint32_t sorts) const {
    std::size_t sum = 0;
    for (std::size_t sort = 0; sort < ranks.size(); ++sort)
      if ((sorts >> sort & 1U) != 0) sum += ranks[sort];
    return sum;
  }

  [[nodiscard]] std::size_t cores_near(std::uint32_t sorts) const {
    std::size_t sum = 0;
    for (const auto& [users, count] : cores)
      if ((users & sorts) != 0) sum += count;
    return sum;
  }
};

// Every set of sorts that are connected by common cores.
inline void each_set(const Sorts& sorts, const std::function<void(std::uint32_t)>& look) {
  for (const std::uint32_t component : sorts.components()) {
    REQUIRE(std::popcount(component) <= 16);
    for (std::uint32_t set = component; set != 0; set = (set - 1) & component) look(set);
  }
}

// The most near cores that the rank with the fewest can have, where every rank has `each` cores or
// one more and no core has two ranks. Hall's theorem: k for each rank, and only then, where every
// set of ranks has k times as many cores near to any of them.
inline std::size_t best_fewest(const Sorts& sorts, std::size_t each) {
  std::size_t best = each;
  each_set(sorts, [&](std::uint32_t set) {
    best = std::min(best, sorts.cores_near(set) / sorts.ranks_in(set));
  });
  return best;
}

// The same, 1 or 0, with more ranks than cores, where each rank has one core and none has two ranks
// more than another: no set of ranks is too large for what is near to it, and no set of cores too
// large for the ranks that it is near to (Mendelsohn and Dulmage: then both can be at once).
inline std::size_t best_crowded(const Sorts& sorts, std::size_t ranks, std::size_t cores) {
  const std::size_t fewest = ranks / cores, most = (ranks + cores - 1) / cores;
  bool possible = sorts.cores.find(0) == sorts.cores.end();
  each_set(sorts, [&](std::uint32_t set) {
    std::size_t only = 0;  // cores that are near to none but these ranks
    for (const auto& [users, count] : sorts.cores) only += (users & ~set) == 0 ? count : 0;
    possible = possible && sorts.ranks_in(set) <= most * sorts.cores_near(set) &&
               fewest * only <= sorts.ranks_in(set);
  });
  return possible ? 1 : 0;
}

}  // namespace dts::plan
