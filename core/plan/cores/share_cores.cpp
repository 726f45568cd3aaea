// SPDX-License-Identifier: Apache-2.0
#include "core/plan/cores/share_cores.hpp"

#include "core/plan/cores/core_amounts.hpp"
#include "core/plan/cores/tidy_cores.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace dts::plan {
namespace {

using topo::NodeTopology;

// Divides the cores of a class evenly among its ranks: the near ones, and those at each distance,
// so that home cores and near cores are even, too.
class HandOut {
 public:
  HandOut(const RankClass& ranks, std::size_t cores, CoreShares& shares)
      : class_(ranks), shares_(shares), has_(ranks.members.size(), 0) {
    const std::size_t count = ranks.members.size();
    for (std::size_t i = 0; i < count; ++i)
      due_.push_back(cores / count + (i < cores % count ? 1 : 0));
  }

  // Distributes (group, number of its cores) pairs. Each rank gets a run of these cores.
  void give(std::vector<std::pair<std::size_t, std::size_t>> amounts) {
    std::size_t left = 0;
    for (const auto& [group, amount] : amounts) left += amount;
    const std::vector<std::size_t> before = has_;
    for (; left > 0; --left) ++has_[neediest()];
    auto next = amounts.begin();
    for (std::size_t i = 0; i < has_.size(); ++i)
      for (std::size_t k = before[i]; k < has_[i]; ++k) {
        while (next->second == 0) ++next;
        --next->second;
        ++shares_.counts[class_.members[i]][next->first];
      }
  }

 private:
  // Among the ranks that still lack cores, the first with the fewest.
  [[nodiscard]] std::size_t neediest() const {
    std::size_t best = has_.size();
    for (std::size_t i = 0; i < has_.size(); ++i)
      if (has_[i] < due_[i] && (best == has_.size() || has_[i] < has_[best])) best = i;
    return best;
  }

  const RankClass& class_;
  CoreShares& shares_;
  std::vector<std::size_t> due_, has_;  // cores of each rank
};

void distribute_state(const RankClass& ranks,
                      const std::vector<std::int64_t>& amounts,
                      CoreShares& shares) {
  std::map<Reach, std::vector<std::pair<std::size_t, std::size_t>>> by_reach;
  std::size_t total = 0;
  for (std::size_t g = 0; g < amounts.size(); ++g) {
    if (amounts[g] == 0) continue;
    by_reach[ranks.key[g]].emplace_back(g, amounts[g]);
    total += static_cast<std::size_t>(amounts[g]);
  }
  HandOut hands(ranks, total, shares);
  for (auto& [reach, groups] : by_reach) hands.give(std::move(groups));
}

// Divides the cores among this class's ranks in order, since the ranks are equivalent.
void put_in_order(const RankClass& ranks, CoreShares& shares) {
  std::vector<std::vector<unsigned>> counts;
  for (const std::size_t rank : ranks.members) counts.push_back(std::move(shares.counts[rank]));
  std::sort(counts.begin(), counts.end(), std::greater<>());
  for (std::size_t i = 0; i < counts.size(); ++i)
    shares.counts[ranks.members[i]] = std::move(counts[i]);
}

// The distance of the nearest core that ranks of this class have.
std::int64_t nearest_of(const RankClass& ranks, const CoreShares& shares) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t rank : ranks.members)
    for (std::size_t g = 0; g < ranks.key.size(); ++g)
      if (shares.counts[rank][g] > 0) least = std::min(least, ranks.key[g].distance);
  return least;
}

// The core for each of `users` users. With more users than cores, neighbours share a core, and the
// cores that serve one user more than they must are spread evenly.
std::vector<unsigned> seats_of(const CoreGroup& group, std::size_t users, const CoreQuota& quota) {
  if (users <= group.cores.size()) return group.cores;
  const CoreQuota::Users all = users_of(group, quota);
  const auto roomy = static_cast<std::size_t>(all.most - all.least);
  const std::size_t more = users - static_cast<std::size_t>(all.least);
  const auto before = [&](std::size_t i) { return (i * more + roomy - 1) / roomy; };
  std::vector<unsigned> seats;
  std::size_t seen = 0;
  for (const unsigned core : group.cores) {
    auto its = static_cast<std::size_t>(quota.users[core].least);
    if (quota.users[core].most > quota.users[core].least) {
      its += before(seen + 1) - before(seen);
      ++seen;
    }
    seats.insert(seats.end(), its, core);
  }
  return seats;
}

// Selects the cores, and which of them are home cores: the near ones, or otherwise the nearest ones
// up to the required number. Slow cores become home cores if there are so few fast ones that
// threads on both finish earlier: a slow core is about half as fast.
class Naming {
 public:
  Naming(const CoreShares& shares, const CoreQuota& quota)
      : shares_(shares), named_(shares.groups.size(), 0) {
    std::vector<std::size_t> users(shares.groups.size(), 0);
    for (const auto& counts : shares.counts)
      for (std::size_t g = 0; g < counts.size(); ++g) users[g] += counts[g];
    for (std::size_t g = 0; g < users.size(); ++g)
      seats_.push_back(seats_of(shares.groups[g], users[g], quota));
  }

  void name(std::size_t rank, std::int64_t nearest, RankBinding& binding) {
    std::map<Reach, std::vector<std::size_t>> by_reach;
    unsigned fast = 0;
    for (std::size_t g = 0; g < shares_.groups.size(); ++g) {
      const Reach& reach = shares_.reaches[rank][g];
      if (shares_.counts[rank][g] == 0) continue;
      by_reach[reach].push_back(g);
      fast += reach.distance < slow_distance() ? shares_.counts[rank][g] : 0;
    }
    for (const auto& [reach, groups] : by_reach) {
      const bool is_home = !reach.is_far || reach.distance == nearest;
      const bool may_fill = reach.distance < slow_distance() || 2 * fast < shares_.home_cores;
      for (const std::size_t g : groups)
        for (unsigned k = 0; k < shares_.counts[rank][g]; ++k) {
          const bool wanted = binding.home.size() < shares_.home_cores && may_fill;
          (is_home || wanted ? binding.home : binding.annex).push_back(next(g));
        }
    }
    std::sort(binding.home.begin(), binding.home.end());
    std::sort(binding.annex.begin(), binding.annex.end());
  }

 private:
  unsigned next(std::size_t group) { return seats_[group][named_[group]++]; }

  const CoreShares& shares_;
  std::vector<std::vector<unsigned>> seats_;  // by group
  std::vector<std::size_t> named_;            // by group
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
  const CoreQuota quota = core_quota(topology, ranks, most);
  all.home_cores = static_cast<unsigned>(quota.home);
  all.counts.assign(ranks, std::vector<unsigned>(all.groups.size(), 0));
  all.reaches.resize(ranks);
  const std::vector<RankClass> classes = classify_ranks(topology, all.groups, gpus);
  const auto amounts = core_amounts(classes, all.groups, quota, CoreAim::fair);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    distribute_state(classes[c], amounts[c], all);
    for (const std::size_t rank : classes[c].members) all.reaches[rank] = classes[c].key;
  }
  if (cores >= ranks) tidy_cores(all);
  for (const RankClass& alike : classes) put_in_order(alike, all);
  std::vector<std::int64_t> nearest(ranks);
  for (const RankClass& alike : classes) {
    const std::int64_t least = nearest_of(alike, all);
    for (const std::size_t rank : alike.members) nearest[rank] = least;
  }
  Naming naming(all, quota);
  for (std::size_t rank = 0; rank < ranks; ++rank) naming.name(rank, nearest[rank], shares[rank]);
  return shares;
}

double least_mean_distance(const NodeTopology& topology,
                           const std::vector<std::vector<unsigned>>& gpus,
                           unsigned most) {
  const std::size_t cores = topology.cores.size(), ranks = gpus.size();
  if (cores == 0) return 0;
  const std::vector<CoreGroup> groups = group_cores(topology);
  const std::vector<RankClass> classes = classify_ranks(topology, groups, gpus);
  const auto amounts =
      core_amounts(classes, groups, core_quota(topology, ranks, most), CoreAim::distance);
  std::int64_t sum = 0, count = 0;
  for (std::size_t c = 0; c < classes.size(); ++c)
    for (std::size_t g = 0; g < groups.size(); ++g) {
      sum += amounts[c][g] * (classes[c].key[g].distance % slow_distance());
      count += amounts[c][g];
    }
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count * k_unit);
}

}  // namespace dts::plan
