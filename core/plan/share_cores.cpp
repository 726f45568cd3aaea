// SPDX-License-Identifier: Apache-2.0
#include "core/plan/share_cores.hpp"

#include "core/base/alike.hpp"
#include "core/plan/flow.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>
#include <array>
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

// Cores that are alike to every GPU.
struct Group {
  unsigned sample = 0;          // one of them
  std::vector<unsigned> cores;  // ascending
  std::size_t taken = 0;        // handed out from the front
};

// Ranks that are alike to every core: as far from each group, in 1/k_unit.
using Class = Alike<std::vector<std::int64_t>>;

std::vector<Group> group(const NodeTopology& topology) {
  const auto alike = group_alike(topology.cores.size(), [&](std::size_t i) {
    const topo::Core& core = topology.cores[i];
    return std::make_tuple(core.package, core.numa, core.l3, core.kind);
  });
  std::vector<Group> groups;
  for (const auto& [place, cores] : alike)
    groups.push_back({static_cast<unsigned>(cores[0]), {cores.begin(), cores.end()}, 0});
  return groups;
}

unsigned fastest(const NodeTopology& topology) {
  unsigned kind = 0;
  for (const topo::Core& core : topology.cores) kind = std::max(kind, core.kind);
  return kind;
}

std::vector<Class> classify(const NodeTopology& topology,
                            const std::vector<Group>& groups,
                            const std::vector<std::vector<unsigned>>& gpus) {
  const unsigned fast = fastest(topology);
  return group_alike(gpus.size(), [&](std::size_t rank) {
    std::vector<std::int64_t> distances;
    for (const Group& one : groups)
      distances.push_back(mean_distance(topology, gpus[rank], one.sample) +
                          (topology.cores[one.sample].kind < fast ? k_slow : 0));
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
             const std::vector<Group>& groups,
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

// The cores of one class to its ranks: of those at one distance everybody gets as much of what he
// still needs as the others, home cores first.
class HandOut {
 public:
  HandOut(const Class& ranks, std::size_t cores, std::vector<RankBinding>& shares)
      : class_(ranks), shares_(shares) {
    const std::size_t count = ranks.members.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t all = cores / count + (i < cores % count ? 1 : 0);
      home_.push_back(std::min<std::size_t>(cores / count, k_home_cores));
      rest_.push_back(all - home_.back());
    }
  }

  // `near`: all of these are home cores; `slow`: none of them, where a rank has others.
  void give(const std::vector<unsigned>& cores, bool near, bool slow) {
    std::vector<std::size_t> home(home_.size(), 0);
    std::size_t left = cores.size();
    fill(left, home_, home);
    std::vector<std::size_t> given = home;
    fill(left, rest_, given);
    auto core = cores.begin();
    for (std::size_t i = 0; i < given.size(); ++i)
      for (std::size_t k = 0; k < given[i]; ++k) {
        RankBinding& share = shares_[class_.members[i]];
        const bool at_home = near || (k < home[i] && !(slow && !share.home.empty()));
        (at_home ? share.home : share.annex).push_back(*core++);
      }
  }

 private:
  const Class& class_;
  std::vector<RankBinding>& shares_;
  std::vector<std::size_t> home_, rest_;  // what each rank still needs
};

void hand_out(const Class& ranks,
              const std::vector<std::int64_t>& amounts,
              std::vector<Group>& groups,
              std::vector<RankBinding>& shares) {
  std::map<std::int64_t, std::vector<unsigned>> by_distance;
  std::size_t total = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (amounts[g] == 0) continue;
    auto& list = by_distance[ranks.key[g]];
    for (std::int64_t k = 0; k < amounts[g]; ++k)
      list.push_back(groups[g].cores[groups[g].taken++ % groups[g].cores.size()]);
    total += static_cast<std::size_t>(amounts[g]);
  }
  HandOut hands(ranks, total, shares);
  for (auto& [distance, cores] : by_distance) {
    std::sort(cores.begin(), cores.end());
    const bool nearest = &cores == &by_distance.begin()->second;
    hands.give(cores, nearest || distance <= topo::k_same_numa * k_unit, distance >= k_slow);
  }
}

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
  std::vector<Group> groups = group(topology);
  const std::vector<Class> classes = classify(topology, groups, gpus);
  const Shares amounts =
      share(classes, groups, quota(cores, ranks, most), cores < ranks, k_home_weight);
  for (std::size_t c = 0; c < classes.size(); ++c) hand_out(classes[c], amounts[c], groups, shares);
  for (RankBinding& share : shares) {
    std::sort(share.home.begin(), share.home.end());
    std::sort(share.annex.begin(), share.annex.end());
  }
  return shares;
}

double least_mean_distance(const NodeTopology& topology,
                           const std::vector<std::vector<unsigned>>& gpus,
                           unsigned most) {
  const std::size_t cores = topology.cores.size(), ranks = gpus.size();
  if (cores == 0) return 0;
  const std::vector<Group> groups = group(topology);
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
