// SPDX-License-Identifier: Apache-2.0
#include "core/plan/cores/fewest_near.hpp"

#include "core/plan/cores/near_cores.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace dts::plan {
namespace {

// The maximum number of regions. Further ones are merged into one that is near every rank that is
// near any of them, so that the result is never too small.
constexpr std::size_t k_most_regions = 64;

}  // namespace

FewestNear::FewestNear(const topo::NodeTopology& topology,
                       const std::vector<unsigned>& gpus,
                       const CoreQuota& quota)
    : cores_(topology.cores.size()), quota_(quota), near_(topology.gpus.size(), 0) {
  const NearCores near(topology);
  std::map<std::vector<bool>, std::size_t> regions;
  for (const CoreGroup& alike : group_cores(topology)) {
    std::vector<bool> users;
    for (const unsigned gpu : gpus) users.push_back(near.contain({gpu}, alike.cores[0]));
    const std::size_t place = std::min(regions.size(), k_most_regions - 1);
    const auto [known, is_new] = regions.try_emplace(users, place);
    if (known->second == rooms_.size()) rooms_.emplace_back();
    Room& room = rooms_[known->second];
    room.cores += alike.cores.size();
    room.users += users_of(alike, quota);
    for (std::size_t i = 0; i < gpus.size() && is_new; ++i)
      if (users[i]) near_[gpus[i]] |= Regions{1} << known->second;
  }
}

FewestNear::Room FewestNear::room_in(Regions regions) const {
  Room sum;
  for (; regions != 0; regions &= regions - 1) {
    const Room& one = rooms_[static_cast<std::size_t>(std::countr_zero(regions))];
    sum.cores += one.cores;
    sum.users += one.users;
  }
  return sum;
}

std::vector<FewestNear::NearSet> FewestNear::sorts_of(
    const std::vector<std::vector<unsigned>>& groups) const {
  std::vector<NearSet> sorts;
  for (const auto& gpus : groups) {
    Regions near = 0;
    for (const unsigned gpu : gpus) near |= near_[gpu];
    const auto known = std::find_if(
        sorts.begin(), sorts.end(), [&](const NearSet& sort) { return sort.near == near; });
    if (known != sorts.end())
      ++known->ranks;
    else
      sorts.push_back({near, 1});
  }
  return sorts;
}

// Sets of sorts that are connected by cores near to several of them.
std::vector<std::vector<FewestNear::NearSet>> FewestNear::components(
    const std::vector<NearSet>& sorts) {
  std::vector<std::vector<NearSet>> found;
  std::vector<Regions> reach;  // of each component
  for (const NearSet& sort : sorts) {
    std::vector<NearSet> whole{sort};
    Regions near = sort.near;
    for (std::size_t i = 0; i < found.size();) {
      if ((reach[i] & sort.near) == 0) {
        ++i;
        continue;
      }
      near |= reach[i];
      whole.insert(whole.end(), found[i].begin(), found[i].end());
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
      reach.erase(reach.begin() + static_cast<std::ptrdiff_t>(i));
    }
    found.push_back(std::move(whole));
    reach.push_back(near);
  }
  return found;
}

// Visits every set of sorts, or if there are too many, each one alone and all together.
template <class Look>
void FewestNear::each_set(const std::vector<NearSet>& sorts, const Look& look) {
  NearSet all;
  for (const NearSet& sort : sorts) all = {all.near | sort.near, all.ranks + sort.ranks};
  if (sorts.size() > k_most_sorts) {
    for (const NearSet& sort : sorts) look(sort);
    return look(all);
  }
  std::vector<NearSet> sets(std::size_t{1} << sorts.size());
  for (std::size_t set = 1; set < sets.size(); ++set) {
    const NearSet& rest = sets[set & (set - 1)];
    const NearSet& one = sorts[static_cast<std::size_t>(std::countr_zero(set))];
    sets[set] = {rest.near | one.near, rest.ranks + one.ranks};
    look(sets[set]);
  }
}

std::size_t FewestNear::of_some(const std::vector<std::vector<unsigned>>& groups) const {
  auto fewest = static_cast<std::size_t>(quota_.each);
  if (quota_.crowded) return fewest;
  for (const auto& component : components(sorts_of(groups)))
    each_set(component, [&](const NearSet& set) {
      fewest = std::min(fewest, room_in(set.near).cores / set.ranks);
    });
  return fewest;
}

// For ranks that have one core each, where each core serves as many ranks as it must and may. This
// is possible if no set of ranks is too large for the cores near to it, and no set of cores for the
// ranks near to it (by Mendelsohn and Dulmage, both can then hold at once).
std::size_t FewestNear::in_crowd(const std::vector<std::vector<unsigned>>& groups) const {
  bool possible = true;
  std::size_t near = 0;
  for (const auto& component : components(sorts_of(groups))) {
    NearSet all;
    for (const NearSet& sort : component) all = {all.near | sort.near, all.ranks + sort.ranks};
    const Room room = room_in(all.near);
    near += room.cores;
    possible = possible && room.users.least <= static_cast<std::int64_t>(all.ranks);
    each_set(component, [&](const NearSet& set) {
      const Room reached = room_in(set.near);
      possible = possible && static_cast<std::int64_t>(set.ranks) <= reached.users.most &&
                 room.users.least - reached.users.least <=
                     static_cast<std::int64_t>(all.ranks - set.ranks);
    });
  }
  return possible && near == cores_ ? 1 : 0;
}

std::size_t FewestNear::of(const std::vector<std::vector<unsigned>>& groups) const {
  return quota_.crowded ? in_crowd(groups) : of_some(groups);
}

}  // namespace dts::plan
