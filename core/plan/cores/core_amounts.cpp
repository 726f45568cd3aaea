// SPDX-License-Identifier: Apache-2.0
#include "core/plan/cores/core_amounts.hpp"

#include "core/plan/cores/flow.hpp"
#include "core/plan/cores/near_cores.hpp"
#include "core/plan/cores/share_cores.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

namespace dts::plan {
namespace {

using topo::NodeTopology;
using Amounts = std::vector<std::vector<std::int64_t>>;

constexpr std::int64_t k_any = std::numeric_limits<std::int32_t>::max();

// The cost of a unit of each criterion. A unit costs more than the maximum total of all criteria
// before it.
struct Weights {
  Cost distance = 1, near = 0, home = 1, fewest = 0, crowd = 0;
};

constexpr Weights k_near_only{0, 1, 0, 0, 0};

Weights weights_of(const std::vector<RankClass>& classes, const CoreQuota& quota, CoreAim aim) {
  std::int64_t ranks = 0, farthest = 1;
  for (const RankClass& alike : classes) {
    ranks += static_cast<std::int64_t>(alike.members.size());
    for (const Reach& reach : alike.key) farthest = std::max(farthest, reach.distance + 1);
  }
  const std::int64_t cores = ranks * quota.each + quota.extra;
  Weights weights;
  if (aim == CoreAim::fair) {
    weights.near = cores * farthest + 1;
    weights.home = cores * (quota.each + 2) * weights.near;
    weights.fewest = (ranks * quota.home * farthest + 1) * weights.home;
  }
  if (quota.crowded) weights.crowd = (weights.fewest + weights.home * farthest) * (cores + 1);
  return weights;
}

// The network leads from the source to the slots of each class (the first cores of each of its
// ranks, the next, ...), from there to hubs for near and far, home and other cores, and on to the
// cores. If each core of a rank is a slot, near cores cost more in later slots: the minimum of a
// sum of such rising costs is the fairest division (Fujishige: Lexicographically Optimal Base of a
// Polymatroid, Mathematics of Operations Research 5, 1980).
class CoreFlow {
 public:
  enum class Slots { together, each_core };  // slots of a rank

  // `fewest`: the near cores that all ranks can have at once, and must get.
  CoreFlow(const std::vector<RankClass>& classes,
           const std::vector<CoreGroup>& groups,
           const CoreQuota& quota,
           const Weights& weights,
           Slots slots_of,
           std::int64_t fewest = 0)
      : classes_(classes),
        groups_(groups),
        weights_(weights),
        far_(slots_of == Slots::each_core ? quota.each + 1 : 1),
        fewest_(fewest),
        slots_(slots_of == Slots::each_core ? slots(quota, near_slots()) : slots(quota, 0)),
        flow_(k_first_group + groups.size() + classes.size() * (k_hubs + slots_.size())) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const CoreQuota::Users users = users_of(groups[g], quota);
      flow_.add(k_first_group + g, k_sink, users.least, 0);
      if (quota.crowded)
        flow_.add(k_first_group + g, k_sink, users.most - users.least, weights.crowd);
    }
    flow_.add(k_source, k_more, quota.extra, 0);
    for (std::size_t c = 0; c < classes.size(); ++c) add_class(c);
    flow_.run(k_source, k_sink);
  }

  [[nodiscard]] Amounts amounts() const {
    Amounts amounts(classes_.size(), std::vector<std::int64_t>(groups_.size(), 0));
    for (std::size_t c = 0; c < classes_.size(); ++c)
      for (std::size_t g = 0; g < groups_.size(); ++g)
        for (const std::size_t edge : edges_[c][g]) amounts[c][g] += flow_.flow(edge);
    return amounts;
  }

 private:
  static constexpr std::size_t k_source = 0, k_more = 1, k_sink = 2, k_first_group = 3;
  static constexpr std::size_t k_hubs = 4;  // near and far, for home and other cores

  struct Slot {
    std::int64_t cores;  // of each rank
    std::int64_t level;  // cores that the rank has before this slot
    bool is_home, is_extra;
  };

  // How many slots beyond its home cores a rank of any class can fill with near cores.
  [[nodiscard]] std::int64_t near_slots() const {
    std::int64_t most = 0;
    for (const RankClass& alike : classes_) {
      const auto ranks = static_cast<std::int64_t>(alike.members.size());
      std::int64_t near = 0;
      for (std::size_t g = 0; g < groups_.size(); ++g)
        if (!alike.key[g].is_far) near += static_cast<std::int64_t>(groups_[g].cores.size());
      most = std::max(most, (near + ranks - 1) / ranks);
    }
    return most;
  }

  // `apart`: the slots of one core each beyond the home cores; 0: none.
  static std::vector<Slot> slots(const CoreQuota& quota, std::int64_t apart) {
    if (apart == 0)
      return {{quota.home, 0, true, false},
              {quota.each - quota.home, 0, false, false},
              {1, 0, false, true}};
    std::vector<Slot> slots;
    const std::int64_t single = std::min(quota.each, quota.home + apart);
    for (std::int64_t j = 0; j < single; ++j) slots.push_back({1, j, j < quota.home, false});
    if (quota.each > single) slots.push_back({quota.each - single, single, false, false});
    slots.push_back({1, quota.each, false, true});
    return slots;
  }

  void add_class(std::size_t c) {
    const std::size_t hubs = k_first_group + groups_.size() + c * (k_hubs + slots_.size());
    const auto ranks = static_cast<std::int64_t>(classes_[c].members.size());
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      const Slot& slot = slots_[s];
      const std::size_t node = hubs + k_hubs + s, hub = hubs + (slot.is_home ? 0 : 2);
      flow_.add(slot.is_extra ? k_more : k_source, node, ranks * slot.cores, 0);
      flow_.add(node, hub, k_any, slot.level * weights_.near);
      flow_.add(node,
                hub + 1,
                k_any,
                far_ * weights_.near + (slot.level < fewest_ ? weights_.fewest : 0));
    }
    auto& edges = edges_.emplace_back();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Reach& reach = classes_[c].key[g];
      const std::size_t hub = hubs + (reach.is_far ? 1 : 0), group = k_first_group + g;
      edges.push_back({flow_.add(hub, group, k_any, reach.distance * weights_.home),
                       flow_.add(hub + 2, group, k_any, reach.distance * weights_.distance)});
    }
  }

  const std::vector<RankClass>& classes_;
  const std::vector<CoreGroup>& groups_;
  const Weights weights_;
  const std::int64_t far_, fewest_;
  const std::vector<Slot> slots_;
  Flow flow_;
  std::vector<std::vector<std::array<std::size_t, 2>>> edges_;  // by class and group: home, other
};

// Near cores of the rank with the fewest; ranks of a class divide evenly.
std::int64_t fewest_near(const std::vector<RankClass>& classes, const Amounts& amounts) {
  std::int64_t fewest = k_any;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::int64_t near = 0;
    for (std::size_t g = 0; g < amounts[c].size(); ++g)
      near += classes[c].key[g].is_far ? 0 : amounts[c][g];
    fewest = std::min(fewest, near / static_cast<std::int64_t>(classes[c].members.size()));
  }
  return fewest;
}

// True if near cores are obviously divided as fairly as possible: no rank has a far one, or no two
// classes compete for the same ones and each has all that it can.
bool is_plainly_fair(const std::vector<RankClass>& classes,
                     const std::vector<CoreGroup>& groups,
                     const CoreQuota& quota,
                     const Amounts& amounts) {
  std::vector<bool> wanted(groups.size(), false);
  bool any_far = false, fair = classes.size() > 0;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::int64_t there = 0, near = 0, all = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      all += amounts[c][g];
      if (classes[c].key[g].is_far) continue;
      fair = fair && !wanted[g];
      wanted[g] = true;
      there += static_cast<std::int64_t>(groups[g].cores.size());
      near += amounts[c][g];
    }
    any_far = any_far || near < all;
    const auto ranks = static_cast<std::int64_t>(classes[c].members.size());
    fair = fair && near >= std::min(there, ranks * quota.each);
  }
  return fair || !any_far;
}

// Seats the ranks in turns, each on the cores where the fewest would share a thread, of those where
// the fewest are. In the last turn there may be fewer ranks than such cores: each may serve one.
std::vector<CoreQuota::Users> crowd_of(const NodeTopology& node, std::size_t ranks) {
  std::vector<CoreQuota::Users> users(node.cores.size(), {0, 0});
  const auto turn_of = [&](std::size_t core) {
    const auto threads =
        static_cast<std::int64_t>(std::max<std::size_t>(1, node.cores[core].pus.size()));
    return std::pair(users[core].least / threads, users[core].least);
  };
  while (ranks > 0) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> turns;
    for (std::size_t core = 0; core < users.size(); ++core) turns[turn_of(core)].push_back(core);
    const std::vector<std::size_t>& seats = turns.begin()->second;
    for (const std::size_t core : seats) ++users[core].most;
    if (seats.size() > ranks) break;
    for (const std::size_t core : seats) ++users[core].least;
    ranks -= seats.size();
  }
  return users;
}

}  // namespace

CoreQuota::Users& CoreQuota::Users::operator+=(const Users& other) {
  least += other.least;
  most += other.most;
  return *this;
}

CoreQuota::Users users_of(const CoreGroup& group, const CoreQuota& quota) {
  const auto size = static_cast<std::int64_t>(group.cores.size());
  if (!quota.crowded) return {size, size};
  CoreQuota::Users sum;
  for (const unsigned core : group.cores) sum += quota.users[core];
  return sum;
}

std::int64_t slow_distance() {
  return (topo::k_other_package + 1) * k_unit;
}

std::vector<CoreGroup> group_cores(const NodeTopology& topology) {
  const auto alike = group_alike(topology.cores.size(), [&](std::size_t i) {
    const topo::Core& core = topology.cores[i];
    return std::make_tuple(core.package, core.numa, core.l3, core.kind);
  });
  std::vector<CoreGroup> groups;
  for (const auto& [place, cores] : alike)
    groups.push_back(
        {std::get<0>(place), std::get<1>(place), std::get<2>(place), {cores.begin(), cores.end()}});
  return groups;
}

std::vector<RankClass> classify_ranks(const NodeTopology& topology,
                                      const std::vector<CoreGroup>& groups,
                                      const std::vector<std::vector<unsigned>>& gpus) {
  const NearCores near(topology);
  return group_alike(gpus.size(), [&](std::size_t rank) {
    std::vector<Reach> reaches;
    for (const CoreGroup& one : groups) {
      const unsigned core = one.cores[0];
      const std::int64_t slower = near.fastest_kind() - topology.cores[core].kind;
      reaches.push_back({!near.contain(gpus[rank], core),
                         mean_distance(topology, gpus[rank], core) + slower * slow_distance()});
    }
    return reaches;
  });
}

CoreQuota core_quota(const NodeTopology& topology, std::size_t ranks, std::size_t most) {
  const std::size_t cores = topology.cores.size();
  if (cores == 0) return {};
  if (cores < ranks) return {1, 1, 0, true, crowd_of(topology, ranks)};
  const std::size_t each = std::min(cores / ranks, most);
  return {static_cast<std::int64_t>(each),
          static_cast<std::int64_t>(std::min<std::size_t>(each, k_home_cores)),
          static_cast<std::int64_t>(each < most ? cores % ranks : 0),
          false,
          {}};
}

Amounts core_amounts(const std::vector<RankClass>& classes,
                     const std::vector<CoreGroup>& groups,
                     const CoreQuota& quota,
                     CoreAim aim) {
  const Weights weights = weights_of(classes, quota, aim);
  Amounts amounts = CoreFlow(classes, groups, quota, weights, CoreFlow::Slots::together).amounts();
  if (aim == CoreAim::distance || classes.size() == 1 || quota.crowded ||
      is_plainly_fair(classes, groups, quota, amounts))
    return amounts;
  const std::int64_t fewest = fewest_near(
      classes, CoreFlow(classes, groups, quota, k_near_only, CoreFlow::Slots::each_core).amounts());
  return CoreFlow(classes, groups, quota, weights, CoreFlow::Slots::each_core, fewest).amounts();
}

}  // namespace dts::plan
