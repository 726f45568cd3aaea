// SPDX-License-Identifier: Apache-2.0
#include "core/plan/gpu_groups.hpp"

#include "core/plan/share_cores.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace dts::plan {
namespace {

using topo::NodeTopology;
using Groups = std::vector<std::vector<unsigned>>;

constexpr std::size_t k_most_ways = 2'000;

class Links {
 public:
  explicit Links(const NodeTopology& topology)
      : gpus_(topology.gpus.size()), weights_(gpus_ * gpus_, 0) {
    for (const topo::GpuLink& link : topology.links)
      weights_[link.a * gpus_ + link.b] = weights_[link.b * gpus_ + link.a] = link.weight;
  }

  [[nodiscard]] unsigned between(unsigned a, unsigned b) const { return weights_[a * gpus_ + b]; }

 private:
  std::size_t gpus_;
  std::vector<unsigned> weights_;
};

// How near two GPUs are: the nearer, the less.
unsigned apart(const topo::Gpu& a, const topo::Gpu& b) {
  if (a.package != b.package) return 3;
  if (a.numa != b.numa) return 2;
  return a.l3 == b.l3 ? 0 : 1;
}

// Every way to choose `ranks` groups of `size`, the nearest partners tried first.
class Search {
 public:
  Search(const NodeTopology& topology, const std::vector<unsigned>& gpus, unsigned ranks)
      : topology_(topology),
        links_(topology),
        gpus_(gpus),
        ranks_(ranks),
        size_(gpus.size() / ranks),
        used_(gpus.size(), false) {
    for (std::size_t a = 0; a < gpus.size(); ++a)
      for (std::size_t b = 0; b < gpus.size(); ++b) alike_.push_back(are_alike(a, b));
  }

  bool run(std::vector<Groups>& ways) {
    ways_ = &ways;
    open_group();
    return ways.size() < k_most_ways;
  }

 private:
  // Two that nothing tells apart.
  [[nodiscard]] bool are_alike(std::size_t a, std::size_t b) const {
    const topo::Gpu &x = topology_.gpus[gpus_[a]], &y = topology_.gpus[gpus_[b]];
    if (apart(x, y) != 0 || x.bridges != y.bridges) return false;
    return std::all_of(gpus_.begin(), gpus_.end(), [&](unsigned other) {
      return other == gpus_[a] || other == gpus_[b] ||
             links_.between(gpus_[a], other) == links_.between(gpus_[b], other);
    });
  }

  // The next group begins with the first that is free, or leaves it out where some are left over.
  void open_group() {
    if (ways_->size() >= k_most_ways) return;
    if (groups_.size() == ranks_) return ways_->push_back(groups_);
    const auto first =
        static_cast<std::size_t>(std::find(used_.begin(), used_.end(), false) - used_.begin());
    if (first == gpus_.size()) return;
    used_[first] = true;
    groups_.push_back({gpus_[first]});
    fill_group(first);
    groups_.pop_back();
    if (skipped_ < gpus_.size() - ranks_ * size_) {
      ++skipped_;
      open_group();
      --skipped_;
    }
    used_[first] = false;
  }

  void fill_group(std::size_t last) {
    if (groups_.back().size() == size_) return open_group();
    std::vector<std::size_t> tried;
    for (const std::size_t next : partners(last)) {
      const auto same = [&](std::size_t one) { return alike_[one * gpus_.size() + next]; };
      if (std::any_of(tried.begin(), tried.end(), same)) continue;
      tried.push_back(next);
      used_[next] = true;
      groups_.back().push_back(gpus_[next]);
      fill_group(next);
      groups_.back().pop_back();
      used_[next] = false;
    }
  }

  // Those after `last` that are free, the best for the open group first.
  [[nodiscard]] std::vector<std::size_t> partners(std::size_t last) const {
    std::vector<std::tuple<unsigned, std::int64_t, std::size_t>> ranked;
    for (std::size_t next = last + 1; next < gpus_.size(); ++next) {
      if (used_[next]) continue;
      unsigned far = 0;
      std::int64_t linked = 0;
      for (const unsigned member : groups_.back()) {
        far += apart(topology_.gpus[member], topology_.gpus[gpus_[next]]);
        linked += links_.between(member, gpus_[next]);
      }
      ranked.emplace_back(far, -linked, next);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::size_t> order;
    for (const auto& [far, linked, next] : ranked) order.push_back(next);
    return order;
  }

  const NodeTopology& topology_;
  const Links links_;
  const std::vector<unsigned>& gpus_;
  const std::size_t ranks_, size_;
  std::vector<bool> alike_;  // of each two, by row
  std::vector<bool> used_;
  std::size_t skipped_ = 0;
  Groups groups_;
  std::vector<Groups>* ways_ = nullptr;
};

// The GPUs that have one rank more where the most cores are left for it: by turns that of the place
// with the most.
std::vector<bool> roomiest(const NodeTopology& node,
                           const std::vector<unsigned>& gpus,
                           std::size_t ranks) {
  const auto each = static_cast<std::int64_t>(std::max<std::size_t>(1, node.cores.size() / ranks));
  const auto place_of = [&](unsigned gpu) {
    const topo::Gpu& device = node.gpus[gpu];
    return std::make_tuple(device.package, device.numa, device.l3);
  };
  std::map<decltype(place_of(0)), std::int64_t> left;
  for (const unsigned gpu : gpus) {
    const auto [place, is_new] = left.try_emplace(place_of(gpu), 0);
    for (const topo::Core& core : node.cores)
      if (is_new && topo::distance(core, node.gpus[gpu]) == 0) ++place->second;
    place->second -= static_cast<std::int64_t>(ranks / gpus.size()) * each;
  }
  std::vector<bool> extra(gpus.size(), false);
  for (std::size_t more = ranks % gpus.size(); more > 0; --more) {
    std::size_t best = gpus.size();
    for (std::size_t i = 0; i < gpus.size(); ++i)
      if (!extra[i] &&
          (best == gpus.size() || left[place_of(gpus[i])] > left[place_of(gpus[best])]))
        best = i;
    extra[best] = true;
    left[place_of(gpus[best])] -= each;
  }
  return extra;
}

// Fewer GPUs than ranks: which of them have one rank more.
bool share_gpus(const NodeTopology& node,
                const std::vector<unsigned>& gpus,
                unsigned ranks,
                std::vector<Groups>& ways) {
  const std::size_t each = ranks / gpus.size(), more = ranks % gpus.size();
  const auto add = [&](const std::vector<bool>& extra) {
    Groups groups;
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
      groups.insert(groups.end(), each + (extra[gpu] ? 1 : 0), {gpus[gpu]});
    ways.push_back(std::move(groups));
  };
  const std::vector<bool> first = roomiest(node, gpus, ranks);
  add(first);
  std::vector<bool> extra(gpus.size(), false);
  std::fill(extra.begin(), extra.begin() + static_cast<std::ptrdiff_t>(more), true);
  do {
    if (ways.size() >= k_most_ways) return false;
    if (extra != first) add(extra);
  } while (std::prev_permutation(extra.begin(), extra.end()));
  return true;
}

// What the ranks could have if each were alone on the node, in the mean over the cores of all.
class Promise {
 public:
  Promise(const NodeTopology& topology, unsigned ranks, std::size_t most)
      : topology_(topology), links_(topology) {
    const std::size_t cores = topology.cores.size();
    each_ = std::max<std::size_t>(1, std::min(most, cores / ranks));
    more_ = cores < ranks || each_ == most ? 0 : cores % ranks;
  }

  GpuGroups of(Groups groups) {
    GpuGroups way;
    way.home_distance = mean_of(groups, std::min<std::size_t>(each_, k_home_cores), 0);
    way.mean_distance = mean_of(groups, each_, more_);
    for (const auto& gpus : groups)
      for (std::size_t i = 0; i < gpus.size(); ++i)
        for (std::size_t j = i + 1; j < gpus.size(); ++j)
          way.linked += links_.between(gpus[i], gpus[j]);
    way.of_rank = std::move(groups);
    return way;
  }

 private:
  // `count` cores each, `more` ranks have one more.
  double mean_of(const Groups& groups, std::size_t count, std::size_t more) {
    std::int64_t sum = 0;
    std::vector<std::int64_t> next;  // what one more costs
    for (const auto& gpus : groups) {
      const std::vector<std::int64_t>& sums = alone(gpus);
      sum += sums[count];
      next.push_back(count + 1 < sums.size() ? sums[count + 1] - sums[count] : 0);
    }
    std::sort(next.begin(), next.end());
    sum += std::accumulate(
        next.begin(), next.begin() + static_cast<std::ptrdiff_t>(more), std::int64_t{0});
    return static_cast<double>(sum) / static_cast<double>(k_unit) /
           static_cast<double>(groups.size() * count + more);
  }

  // By a number of cores, the sum of the distances of so many.
  const std::vector<std::int64_t>& alone(const std::vector<unsigned>& gpus) {
    const auto [place, is_new] = known_.try_emplace(gpus);
    if (!is_new) return place->second;
    std::vector<std::int64_t> distances;
    for (unsigned core = 0; core < topology_.cores.size(); ++core)
      distances.push_back(mean_distance(topology_, gpus, core));
    std::sort(distances.begin(), distances.end());
    place->second.push_back(0);
    for (const std::int64_t distance : distances)
      place->second.push_back(place->second.back() + distance);
    return place->second;
  }

  const NodeTopology& topology_;
  const Links links_;
  std::size_t each_ = 1, more_ = 0;  // cores of every rank; ranks with one more
  std::map<std::vector<unsigned>, std::vector<std::int64_t>> known_;
};

}  // namespace

GpuChoices gpu_choices(const NodeTopology& topology,
                       const std::vector<unsigned>& gpus,
                       unsigned ranks,
                       unsigned most_cores) {
  GpuChoices choices;
  std::vector<Groups> ways;
  if (gpus.empty())
    ways.emplace_back(ranks);
  else if (gpus.size() < ranks)
    choices.all = share_gpus(topology, gpus, ranks, ways);
  else
    choices.all = Search(topology, gpus, ranks).run(ways);
  if (ways.size() == 1) {
    choices.ways.push_back({std::move(ways[0])});
    return choices;
  }
  Promise promise(topology, ranks, most_cores);
  for (Groups& groups : ways) choices.ways.push_back(promise.of(std::move(groups)));
  std::stable_sort(
      choices.ways.begin(), choices.ways.end(), [](const GpuGroups& a, const GpuGroups& b) {
        return std::tie(a.home_distance, a.mean_distance, b.linked) <
               std::tie(b.home_distance, b.mean_distance, a.linked);
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
