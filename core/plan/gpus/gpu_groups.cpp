// SPDX-License-Identifier: Apache-2.0
#include "core/plan/gpus/gpu_groups.hpp"

#include "core/base/text/alike.hpp"
#include "core/plan/cores/fewest_near.hpp"
#include "core/plan/cores/near_cores.hpp"
#include "core/plan/cores/share_cores.hpp"
#include "core/plan/gpus/gpu_search.hpp"
#include "core/plan/gpus/gpus_alike.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace dts::plan {
namespace {

using topo::NodeTopology;
using Groups = std::vector<std::vector<unsigned>>;

constexpr std::size_t k_most_groupings = 500;

// The GPUs that get one rank more. Each extra rank goes to the place with the most cores per rank,
// which maximises the fewest cores of any rank (D'Hondt's method for seats).
std::vector<bool> roomiest(const NodeTopology& node,
                           const std::vector<unsigned>& gpus,
                           std::size_t ranks) {
  struct Place {
    std::uint64_t cores = 0, ranks = 0;
  };

  const auto place_of = [&](unsigned gpu) {
    const topo::Gpu& device = node.gpus[gpu];
    return std::make_tuple(device.package, device.numa, device.group, device.l3);
  };
  const NearCores near(node);
  std::map<decltype(place_of(0)), Place> places;
  for (const unsigned gpu : gpus) {
    const auto [place, is_new] = places.try_emplace(place_of(gpu));
    for (unsigned core = 0; core < node.cores.size(); ++core)
      if (is_new && near.contain({gpu}, core)) ++place->second.cores;
    place->second.ranks += ranks / gpus.size();
  }
  const auto roomier = [&](unsigned a, unsigned b) {
    const Place &one = places[place_of(a)], &other = places[place_of(b)];
    return one.cores * (other.ranks + 1) > other.cores * (one.ranks + 1);
  };
  std::vector<bool> extra(gpus.size(), false);
  for (std::size_t more = ranks % gpus.size(); more > 0; --more) {
    std::size_t best = gpus.size();
    for (std::size_t i = 0; i < gpus.size(); ++i)
      if (!extra[i] && (best == gpus.size() || roomier(gpus[i], gpus[best]))) best = i;
    extra[best] = true;
    ++places[place_of(gpus[best])].ranks;
  }
  return extra;
}

// With fewer GPUs than ranks, chooses the GPUs that get one rank more. Among equivalent GPUs, it
// takes the first ones.
class Sharing {
 public:
  Sharing(const NodeTopology& node, const std::vector<unsigned>& gpus, std::size_t ranks)
      : gpus_(gpus), each_(ranks / gpus.size()), extra_(gpus.size(), false) {
    const std::vector<std::size_t> first_of = alike_gpus(node, GpuPairs(node), gpus);
    kinds_ = group_alike(gpus.size(), [&](std::size_t gpu) { return first_of[gpu]; });
    add(first_ = roomiest(node, gpus, ranks));
    choose(0, ranks % gpus.size());
  }

  [[nodiscard]] std::pair<std::vector<Groups>, bool> ways() && { return {std::move(ways_), all_}; }

 private:
  void choose(std::size_t kind, std::size_t more) {
    all_ = all_ && ways_.size() < k_most_groupings;
    if (!all_) return;
    if (kind == kinds_.size()) {
      if (more == 0 && extra_ != first_) add(extra_);
      return;
    }
    const std::vector<std::size_t>& members = kinds_[kind].members;
    const std::size_t most = std::min(more, members.size());
    for (std::size_t i = 0; i < most; ++i) extra_[members[i]] = true;
    for (std::size_t count = most;; --count) {
      choose(kind + 1, more - count);
      if (count == 0) return;
      extra_[members[count - 1]] = false;
    }
  }

  void add(const std::vector<bool>& extra) {
    Groups groups;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
      groups.insert(groups.end(), each_ + (extra[gpu] ? 1 : 0), {gpus_[gpu]});
    ways_.push_back(std::move(groups));
  }

  const std::vector<unsigned>& gpus_;
  const std::size_t each_;
  std::vector<Alike<std::size_t>> kinds_;
  std::vector<bool> extra_, first_;
  std::vector<Groups> ways_;
  bool all_ = true;
};

// Keeps the ways with the most near cores for the worst-off rank.
void keep_fairest(const FewestNear& near, std::vector<Groups>& ways) {
  std::size_t best = 0;
  std::vector<Groups> fairest;
  for (Groups& groups : ways) {
    const std::size_t fewest = near.of(groups);
    if (fewest > best) fairest.clear();
    best = std::max(best, fewest);
    if (fewest == best) fairest.push_back(std::move(groups));
  }
  ways = std::move(fairest);
}

// What ranks could have if each were alone on the node, or shared it only with ranks that have the
// same near cores. Distances are means over the cores of all ranks.
class Promise {
 public:
  Promise(const NodeTopology& topology, unsigned ranks, std::size_t most)
      : topology_(topology), near_(topology) {
    const std::size_t cores = topology.cores.size();
    each_ = std::max<std::size_t>(1, std::min(most, cores / ranks));
    more_ = cores < ranks || each_ == most ? 0 : cores % ranks;
    crowded_ = cores < ranks;
  }

  GpuGroups of(Groups groups) {
    GpuGroups way;
    way.near_cores = near_of(groups);
    way.home_distance = mean_of(groups, std::min<std::size_t>(each_, k_home_cores), 0);
    way.mean_distance = mean_of(groups, each_, more_);
    way.of_rank = std::move(groups);
    return way;
  }

 private:
  // For ranks with `count` cores each, of which `more` ranks have one core more.
  double mean_of(const Groups& groups, std::size_t count, std::size_t more) {
    std::int64_t sum = 0;
    std::vector<std::int64_t> next;  // cost of one more core
    for (const auto& gpus : groups) {
      const std::vector<std::int64_t>& sums = alone(gpus).sums;
      sum += sums[count];
      next.push_back(count + 1 < sums.size() ? sums[count + 1] - sums[count] : 0);
    }
    std::sort(next.begin(), next.end());
    sum += std::accumulate(
        next.begin(), next.begin() + static_cast<std::ptrdiff_t>(more), std::int64_t{0});
    return static_cast<double>(sum) / static_cast<double>(k_unit) /
           static_cast<double>(groups.size() * count + more);
  }

  // The number of near cores of each rank, ascending. Ranks with the same near cores share them.
  std::vector<unsigned> near_of(const Groups& groups) {
    std::map<const std::vector<bool>*, unsigned> users;
    for (const auto& gpus : groups) ++users[alone(gpus).near];
    const std::size_t most = each_ + (more_ > 0 ? 1 : 0);
    std::vector<unsigned> counts;
    for (const auto& [near, ranks] : users) {
      const auto cores = static_cast<std::size_t>(std::count(near->begin(), near->end(), true));
      const std::size_t given =
          crowded_ ? std::min<std::size_t>(1, cores) * ranks : std::min(cores, most * ranks);
      for (std::size_t i = 0; i < ranks; ++i)
        counts.push_back(static_cast<unsigned>(given / ranks + (i < given % ranks ? 1 : 0)));
    }
    std::sort(counts.begin(), counts.end());
    return counts;
  }

  struct Alone {
    std::vector<std::int64_t> sums;           // the total distance of the nearest N cores, by N
    const std::vector<bool>* near = nullptr;  // by core; shared by all that are near the same cores
  };

  const Alone& alone(const std::vector<unsigned>& gpus) {
    const auto [place, is_new] = known_.try_emplace(gpus);
    if (!is_new) return place->second;
    std::vector<std::int64_t> distances;
    std::vector<bool> near;
    for (unsigned core = 0; core < topology_.cores.size(); ++core) {
      distances.push_back(mean_distance(topology_, gpus, core));
      near.push_back(near_.contain(gpus, core));
    }
    std::sort(distances.begin(), distances.end());
    std::vector<std::int64_t>& sums = place->second.sums;
    sums.push_back(0);
    for (const std::int64_t distance : distances) sums.push_back(sums.back() + distance);
    place->second.near = &*near_sets_.insert(std::move(near)).first;
    return place->second;
  }

  const NodeTopology& topology_;
  const NearCores near_;
  std::size_t each_ = 1, more_ = 0;  // cores of every rank; ranks with one more
  bool crowded_ = false;
  std::map<std::vector<unsigned>, Alone> known_;
  std::set<std::vector<bool>> near_sets_;
};

}  // namespace

GpuChoices gpu_choices(const NodeTopology& topology,
                       const std::vector<unsigned>& gpus,
                       unsigned ranks,
                       unsigned most_cores) {
  GpuChoices choices;
  std::vector<Groups> ways;
  const FewestNear near(topology, gpus, core_quota(topology, ranks, most_cores));
  if (gpus.empty()) {
    ways.emplace_back(ranks);
  } else if (gpus.size() < ranks) {
    std::tie(ways, choices.all) = Sharing(topology, gpus, ranks).ways();
    keep_fairest(near, ways);
  } else {
    std::tie(ways, choices.all) = nearest_groups(topology, gpus, ranks, gpus.size() / ranks, near);
  }
  if (ways.size() == 1) {
    choices.ways.push_back({std::move(ways[0]), {}, 0, 0});
    return choices;
  }
  Promise promise(topology, ranks, most_cores);
  const auto fewest = static_cast<unsigned>(near.of(ways[0]));  // the same for all ways
  for (Groups& groups : ways) {
    GpuGroups& way = choices.ways.emplace_back(promise.of(std::move(groups)));
    way.near_cores[0] = std::min(way.near_cores[0], fewest);
  }
  std::stable_sort(
      choices.ways.begin(), choices.ways.end(), [](const GpuGroups& a, const GpuGroups& b) {
        return std::tie(b.near_cores[0], a.home_distance, b.near_cores, a.mean_distance) <
               std::tie(a.near_cores[0], b.home_distance, a.near_cores, b.mean_distance);
      });
  return choices;
}

std::vector<std::vector<unsigned>> gpu_runs(const std::vector<unsigned>& gpus, unsigned ranks) {
  std::vector<std::vector<unsigned>> runs(ranks);
  const std::size_t each = std::max<std::size_t>(1, gpus.size() / ranks);
  for (std::size_t rank = 0; !gpus.empty() && rank < ranks; ++rank) {
    const std::size_t first = gpus.size() < ranks ? rank * gpus.size() / ranks : rank * each;
    const auto begin = gpus.begin() + static_cast<std::ptrdiff_t>(first);
    runs[rank].assign(begin, begin + static_cast<std::ptrdiff_t>(each));
  }
  return runs;
}

}  // namespace dts::plan
