// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/core_kinds.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace dts::topo {
namespace {

// True if `higher` is more than a fifth above `lower`.
bool is_step(unsigned lower, unsigned higher) {
  return 5ULL * higher > 6ULL * lower;
}

}  // namespace

std::vector<unsigned> kinds_of(const std::vector<CoreSort>& sorts) {
  std::vector<std::size_t> order(sorts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto capacity = [&](std::size_t i) { return sorts[i].capacity.value_or(0); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::make_pair(sorts[a].type, capacity(a)) < std::make_pair(sorts[b].type, capacity(b));
  });
  // Clusters in the order of types and capacities, and the fastest speed in each.
  std::vector<std::size_t> cluster(sorts.size(), 0);
  std::vector<std::pair<int, unsigned>> speed;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t last = i == 0 ? 0 : order[i - 1];
    if (i == 0 || sorts[last].type != sorts[order[i]].type ||
        is_step(capacity(last), capacity(order[i])))
      speed.emplace_back(-1, 0U);
    cluster[order[i]] = speed.size() - 1;
    speed.back() = std::max(speed.back(), {sorts[order[i]].efficiency, capacity(order[i])});
  }
  const std::set<std::pair<int, unsigned>> speeds(speed.begin(), speed.end());
  std::vector<unsigned> kinds;
  for (const std::size_t number : cluster)
    kinds.push_back(
        static_cast<unsigned>(std::distance(speeds.begin(), speeds.find(speed[number]))));
  return kinds;
}

}  // namespace dts::topo
