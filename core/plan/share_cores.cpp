// SPDX-License-Identifier: Apache-2.0
#include "core/plan/share_cores.hpp"

#include "core/base/alike.hpp"
#include "core/plan/flow.hpp"
#include "core/plan/tidy_cores.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

namespace dts::plan {
namespace {

using topo::NodeTopology;

// A slow core of a hybrid processor counts as farther than any fast one.
constexpr std::int64_t k_slow = (topo::k_other_package + 1) * k_unit;
// A home core's distance counts before the distances of all others together.
constexpr std::int64_t k_home_weight = 1'000'000;
// A core without a rank, or with one rank less, comes before any distance.
constexpr std::int64_t k_crowd_weight = k_home_weight * k_home_weight;

// Ranks that are alike to every core: as far from each group, in 1/k_unit.
using Class = Alike<std::vector<std::int64_t>>;

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

unsigned fastest(const NodeTopology& topology) {
  unsigned kind = 0;
  for (const topo::Core& core : topology.cores) kind = std::max(kind, core.kind);
  return kind;
}

std::vector<Class> classify(const NodeTopology& topology,
                            const std::vector<CoreGroup>& groups,
                            const std::vector<std::vector<unsigned>>& gpus) {
  const unsigned fast = fastest(topology);
  return group_alike(gpus.size(), [&](std::size_t rank) {
    std::vector<std::int64_t> distances;
    for (const CoreGroup& one : groups)
      distances.push_back(mean_distance(topology, gpus[rank], one.cores[0]) +
                          (topology.cores[one.cores[0]].kind < fast ? k_slow : 0));
    return distances;
  });
}

// Cores of each class in each group.
using Shares = std::vector<std::vector<std::int64_t>>;

// What each rank gets: `each`, of which `home` are home cores, and `extra` of them one more. Each
// core serves `full` ranks, and some of them one more.
struct Quota {
  std::int64_t each, home, extra, full;
};

Quota quota(std::size_t cores, std::size_t ranks, std::size_t most) {
  if (cores < ranks) return {1, 1, 0, static_cast<std::int64_t>(ranks / cores)};
  const std::size_t each = std::min(cores / ranks, most);
  return {static_cast<std::int64_t>(each),
          static_cast<std::int64_t>(std::min<std::size_t>(each, k_home_cores)),
          static_cast<std::int64_t>(each < most ? cores % ranks : 0),
          1};
}

// Each class is three sources: its home cores, the rest of what all ranks have, and one core more
// for some of its ranks.
Shares share(const std::vector<Class>& classes,
             const std::vector<CoreGroup>& groups,
             const Quota& quota,
             bool crowded,
             std::int64_t home_weight) {
  constexpr std::int64_t k_any = std::numeric_limits<std::int32_t>::max();
  const std::size_t source = 0, more = 1, sink = 2, first_group = 3;
  const std::size_t first_part = first_group + groups.size();
  Flow flow(first_part + 3 * classes.size());
  flow.add(source, more, quota.extra, 0);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto size = static_cast<std::int64_t>(groups[g].cores.size());
    flow.add(first_group + g, sink, size * quota.full, 0);
    if (crowded) flow.add(first_group + g, sink, size, k_crowd_weight);
  }
  std::vector<std::vector<std::array<std::size_t, 3>>> edges(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::size_t part = first_part + 3 * c;
    const auto count = static_cast<std::int64_t>(classes[c].members.size());
    flow.add(source, part, count * quota.home, 0);
    flow.add(source, part + 1, count * (quota.each - quota.home), 0);
    flow.add(more, part + 2, count, 0);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::int64_t cost = classes[c].key[g];
      edges[c].push_back({flow.add(part, first_group + g, k_any, cost * home_weight),
                          flow.add(part + 1, first_group + g, k_any, cost),
                          flow.add(part + 2, first_group + g, k_any, cost)});
    }
  }
  flow.run(source, sink);
  Shares shares(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c)
    for (const auto& three : edges[c])
      shares[c].push_back(flow.flow(three[0]) + flow.flow(three[1]) + flow.flow(three[2]));
  return shares;
}

// One for each of `count` to whoever needs most, the first of several.
void fill(std::size_t& count, std::vector<std::size_t>& needs, std::vector<std::size_t>& given) {
  while (count > 0) {
    const auto neediest = std::max_element(needs.begin(), needs.end());
    if (*neediest == 0) return;
    --*neediest;
    ++given[static_cast<std::size_t>(neediest - needs.begin())];
    --count;
  }
}

// The cores of one class to its ranks, by their numbers: of those at one distance everybody gets as
// much of what he still needs as the others, home cores first.
class HandOut {
 public:
  HandOut(const Class& ranks, std::size_t cores, CoreShares& shares)
      : class_(ranks), shares_(shares) {
    const std::size_t count = ranks.members.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t all = cores / count + (i < cores % count ? 1 : 0);
      home_.push_back(std::min<std::size_t>(cores / count, k_home_cores));
      rest_.push_back(all - home_.back());
    }
  }

  // So many of each of these groups.
  void give(std::vector<std::pair<std::size_t, std::size_t>> amounts) {
    std::size_t left = 0;
    for (const auto& [group, amount] : amounts) left += amount;
    std::vector<std::size_t> given(home_.size(), 0);
    fill(left, home_, given);
    fill(left, rest_, given);
    auto next = amounts.begin();
    for (std::size_t i = 0; i < given.size(); ++i)
      for (std::size_t k = 0; k < given[i]; ++k) {
        while (next->second == 0) ++next;
        --next->second;
        ++shares_.counts[class_.members[i]][next->first];
      }
  }

 private:
  const Class& class_;
  CoreShares& shares_;
  std::vector<std::size_t> home_, rest_;  // what each rank still needs
};

void hand_out(const Class& ranks, const std::vector<std::int64_t>& amounts, CoreShares& shares) {
  std::map<std::int64_t, std::vector<std::pair<std::size_t, std::size_t>>> by_distance;
  std::size_t total = 0;
  for (std::size_t g = 0; g < amounts.size(); ++g) {
    if (amounts[g] == 0) continue;
    by_distance[ranks.key[g]].emplace_back(g, amounts[g]);
    total += static_cast<std::size_t>(amounts[g]);
  }
  HandOut hands(ranks, total, shares);
  for (auto& [distance, groups] : by_distance) hands.give(std::move(groups));
}

// What ranks of this class have, in the order of cores: it is all the same to them.
void put_in_order(const Class& ranks, CoreShares& shares) {
  std::vector<std::vector<unsigned>> counts;
  for (const std::size_t rank : ranks.members) counts.push_back(std::move(shares.counts[rank]));
  std::sort(counts.begin(), counts.end(), std::greater<>());
  for (std::size_t i = 0; i < counts.size(); ++i)
    shares.counts[ranks.members[i]] = std::move(counts[i]);
}

// Of the cores that ranks of this class have.
std::int64_t nearest_of(const Class& ranks, const CoreShares& shares) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t rank : ranks.members)
    for (std::size_t g = 0; g < ranks.key.size(); ++g)
      if (shares.counts[rank][g] > 0) least = std::min(least, ranks.key[g]);
  return least;
}

// Which cores they are, and which of them home: the nearest that ranks of this class have and all
// of the GPUs' NUMA node, else as many as are to be; a slow one where a rank has no other.
class Naming {
 public:
  explicit Naming(const CoreShares& shares)
      : shares_(shares), users_(shares.groups.size(), 0), named_(shares.groups.size(), 0) {
    for (const auto& counts : shares.counts)
      for (std::size_t g = 0; g < counts.size(); ++g) users_[g] += counts[g];
  }

  void name(std::size_t rank, std::int64_t nearest, RankBinding& binding) {
    std::map<std::int64_t, std::vector<std::size_t>> by_distance;
    for (std::size_t g = 0; g < shares_.groups.size(); ++g)
      if (shares_.counts[rank][g] > 0) by_distance[shares_.distances[rank][g]].push_back(g);
    for (const auto& [distance, groups] : by_distance)
      for (const std::size_t g : groups) {
        const bool near = distance == nearest || distance <= topo::k_same_numa * k_unit;
        for (unsigned k = 0; k < shares_.counts[rank][g]; ++k) {
          const bool wanted = binding.home.size() < shares_.home_cores &&
                              !(distance >= k_slow && !binding.home.empty());
          (near || wanted ? binding.home : binding.annex).push_back(next(g));
        }
      }
    std::sort(binding.home.begin(), binding.home.end());
    std::sort(binding.annex.begin(), binding.annex.end());
  }

 private:
  // With more users than cores, neighbours share one.
  unsigned next(std::size_t group) {
    const auto& cores = shares_.groups[group].cores;
    const std::size_t number = named_[group]++;
    return cores[users_[group] > cores.size() ? number * cores.size() / users_[group] : number];
  }

  const CoreShares& shares_;
  std::vector<std::size_t> users_, named_;  // of each group
};

}  // namespace

std::int64_t mean_distance(const NodeTopology& topology,
                           const std::vector<unsigned>& gpus,
                           unsigned core) {
  std::int64_t sum = 0;
  for (const unsigned gpu : gpus)
    sum += topo::distance(topology.cores[core], topology.gpus.at(gpu));
  return gpus.empty() ? 0 : sum * k_unit / static_cast<std::int64_t>(gpus.size());
}

std::vector<RankBinding> share_cores(const NodeTopology& topology,
                                     const std::vector<std::vector<unsigned>>& gpus,
                                     unsigned most) {
  const std::size_t cores = topology.cores.size(), ranks = gpus.size();
  std::vector<RankBinding> shares(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) shares[rank].gpus = gpus[rank];
  if (cores == 0) return shares;
  CoreShares all;
  all.groups = group_cores(topology);
  const Quota each = quota(cores, ranks, most);
  all.home_cores = static_cast<unsigned>(each.home);
  all.counts.assign(ranks, std::vector<unsigned>(all.groups.size(), 0));
  all.distances.resize(ranks);
  const std::vector<Class> classes = classify(topology, all.groups, gpus);
  const Shares amounts = share(classes, all.groups, each, cores < ranks, k_home_weight);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    hand_out(classes[c], amounts[c], all);
    for (const std::size_t rank : classes[c].members) all.distances[rank] = classes[c].key;
  }
  if (cores >= ranks) tidy_cores(all);
  for (const Class& alike : classes) put_in_order(alike, all);
  std::vector<std::int64_t> nearest(ranks);
  for (const Class& alike : classes) {
    const std::int64_t least = nearest_of(alike, all);
    for (const std::size_t rank : alike.members) nearest[rank] = least;
  }
  Naming naming(all);
  for (std::size_t rank = 0; rank < ranks; ++rank) naming.name(rank, nearest[rank], shares[rank]);
  return shares;
}

double least_mean_distance(const NodeTopology& topology,
                           const std::vector<std::vector<unsigned>>& gpus,
                           unsigned most) {
  const std::size_t cores = topology.cores.size(), ranks = gpus.size();
  if (cores == 0) return 0;
  const std::vector<CoreGroup> groups = group_cores(topology);
  const std::vector<Class> classes = classify(topology, groups, gpus);
  const Shares amounts = share(classes, groups, quota(cores, ranks, most), cores < ranks, 1);
  std::int64_t sum = 0, count = 0;
  for (std::size_t c = 0; c < classes.size(); ++c)
    for (std::size_t g = 0; g < groups.size(); ++g) {
      sum += amounts[c][g] * (classes[c].key[g] % k_slow);
      count += amounts[c][g];
    }
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count * k_unit);
}

}  // namespace dts::plan
