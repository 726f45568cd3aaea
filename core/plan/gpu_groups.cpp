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
  explicit Links(const NodeTopology& topology) {
    for (const topo::GpuLink& link : topology.links) weights_[{link.a, link.b}] = link.weight;
  }

  [[nodiscard]] unsigned between(unsigned a, unsigned b) const {
    const auto found = weights_.find(std::minmax(a, b));
    return found == weights_.end() ? 0 : found->second;
  }

 private:
  std::map<std::pair<unsigned, unsigned>, unsigned> weights_;
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
        used_(gpus.size(), false) {}

  bool run(std::vector<Groups>& ways) {
    ways_ = &ways;
    open_group();
    return ways.size() < k_most_ways;
  }

 private:
  // Two that nothing tells apart.
  [[nodiscard]] bool alike(std::size_t a, std::size_t b) const {
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
      const auto same = [&](std::size_t one) { return alike(one, next); };
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
  std::vector<bool> used_;
  std::size_t skipped_ = 0;
  Groups groups_;
  std::vector<Groups>* ways_ = nullptr;
};

// Fewer GPUs than ranks: which of them have one rank more.
bool share_gpus(const std::vector<unsigned>& gpus, unsigned ranks, std::vector<Groups>& ways) {
  const std::size_t each = ranks / gpus.size(), more = ranks % gpus.size();
  // The evenly spread choice first.
  std::vector<bool> extra(gpus.size(), false);
  const auto add = [&] {
    Groups groups;
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
      groups.insert(groups.end(), each + (extra[gpu] ? 1 : 0), {gpus[gpu]});
    ways.push_back(std::move(groups));
  };
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
    extra[gpu] = (gpu + 1) * more / gpus.size() > gpu * more / gpus.size();
  add();
  const std::vector<bool> even = extra;
  std::fill(extra.begin(), extra.end(), false);
  std::fill(extra.begin(), extra.begin() + static_cast<std::ptrdiff_t>(more), true);
  do {
    if (ways.size() >= k_most_ways) return false;
    if (extra != even) add();
  } while (std::prev_permutation(extra.begin(), extra.end()));
  return true;
}

// The means over all ranks of what each could have if it were alone on the node.
class Promise {
 public:
  Promise(const NodeTopology& topology, unsigned ranks)
      : topology_(topology), links_(topology), ranks_(ranks) {}

  GpuGroups of(Groups groups) {
    GpuGroups way;
    for (const auto& gpus : groups) {
      const auto& [home, mean] = alone(gpus);
      way.home_distance += home / static_cast<double>(groups.size());
      way.mean_distance += mean / static_cast<double>(groups.size());
      for (std::size_t i = 0; i < gpus.size(); ++i)
        for (std::size_t j = i + 1; j < gpus.size(); ++j)
          way.linked += links_.between(gpus[i], gpus[j]);
    }
    way.of_rank = std::move(groups);
    return way;
  }

 private:
  const std::pair<double, double>& alone(const std::vector<unsigned>& gpus) {
    const auto [place, is_new] = known_.try_emplace(gpus);
    if (!is_new) return place->second;
    std::vector<std::int64_t> distances;
    for (unsigned core = 0; core < topology_.cores.size(); ++core)
      distances.push_back(mean_distance(topology_, gpus, core));
    std::sort(distances.begin(), distances.end());
    const std::size_t each = std::max<std::size_t>(1, distances.size() / ranks_);
    const auto mean_of = [&](std::size_t count) {
      const auto end = distances.begin() + static_cast<std::ptrdiff_t>(count);
      return static_cast<double>(std::accumulate(distances.begin(), end, std::int64_t{0})) /
             static_cast<double>(k_unit) / static_cast<double>(count);
    };
    return place->second = {mean_of(std::min<std::size_t>(each, k_home_cores)), mean_of(each)};
  }

  const NodeTopology& topology_;
  const Links links_;
  const unsigned ranks_;
  std::map<std::vector<unsigned>, std::pair<double, double>> known_;
};

}  // namespace

GpuChoices gpu_choices(const NodeTopology& topology,
                       const std::vector<unsigned>& gpus,
                       unsigned ranks) {
  GpuChoices choices;
  std::vector<Groups> ways;
  if (gpus.empty())
    ways.emplace_back(ranks);
  else if (gpus.size() < ranks)
    choices.all = share_gpus(gpus, ranks, ways);
  else
    choices.all = Search(topology, gpus, ranks).run(ways);
  if (ways.size() == 1) {
    choices.ways.push_back({std::move(ways[0])});
    return choices;
  }
  Promise promise(topology, ranks);
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
