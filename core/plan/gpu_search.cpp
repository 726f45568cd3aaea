// SPDX-License-Identifier: Apache-2.0
#include "core/plan/gpu_search.hpp"

#include "core/plan/gpus_apart.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace dts::plan {
namespace {

using topo::NodeTopology;
using Groups = std::vector<std::vector<unsigned>>;

constexpr std::size_t k_most_ways = 500;
constexpr std::size_t k_most_looks = 5'000;

// Where a GPU is, down to that many bridges above it.
auto place_of(const topo::Gpu& gpu, std::size_t depth) {
  std::vector<unsigned> above = gpu.bridges;
  above.resize(std::min(depth, above.size()));
  return std::make_tuple(gpu.package, gpu.numa, std::move(above));
}

// Groups from the bottom up: behind one switch, one host bridge, in one NUMA node, one package;
// what is left over in each of these goes up, those together that were so before. No way has fewer
// groups that cross a part at any of these levels: in a part of p GPUs whole groups of s are p/s,
// whichever they are.
class Packing {
 public:
  Packing(const NodeTopology& topology, const std::vector<unsigned>& gpus, std::size_t size)
      : topology_(topology), size_(size), left_(gpus) {}

  Groups run(std::size_t ranks) {
    std::size_t depth = 0;
    for (const unsigned gpu : left_) depth = std::max(depth, topology_.gpus[gpu].bridges.size());
    for (; depth > 0; --depth)
      close_groups([&](unsigned gpu) { return place_of(topology_.gpus[gpu], depth); });
    const auto& gpus = topology_.gpus;
    close_groups([&](unsigned gpu) { return std::make_pair(gpus[gpu].package, gpus[gpu].numa); });
    close_groups([&](unsigned gpu) { return gpus[gpu].package; });
    close_groups([](unsigned) { return 0; });
    groups_.resize(ranks);
    for (auto& group : groups_) std::sort(group.begin(), group.end());
    std::sort(groups_.begin(), groups_.end());
    return groups_;
  }

 private:
  // Whole groups of what has one key. What is left keeps together, the most first.
  template <class KeyOf>
  void close_groups(const KeyOf& key_of) {
    std::map<decltype(key_of(0U)), std::vector<unsigned>> pools;
    for (const unsigned gpu : left_) pools[key_of(gpu)].push_back(gpu);
    std::vector<std::vector<unsigned>> rests;
    for (auto& [key, pool] : pools) {
      const std::size_t whole = pool.size() / size_;
      for (std::size_t i = 0; i < whole; ++i)
        groups_.emplace_back(at(pool, i * size_), at(pool, (i + 1) * size_));
      rests.emplace_back(at(pool, whole * size_), pool.end());
    }
    std::stable_sort(rests.begin(), rests.end(), [](const auto& a, const auto& b) {
      return a.size() > b.size();
    });
    left_.clear();
    for (const auto& rest : rests) left_.insert(left_.end(), rest.begin(), rest.end());
  }

  static std::vector<unsigned>::iterator at(std::vector<unsigned>& pool, std::size_t place) {
    return pool.begin() + static_cast<std::ptrdiff_t>(place);
  }

  const NodeTopology& topology_;
  const std::size_t size_;
  std::vector<unsigned> left_;
  Groups groups_;
};

// Every way to choose `ranks` groups of `size` that is no worse than the best so far, the nearest
// partners tried first.
class Search {
 public:
  Search(const NodeTopology& topology, const std::vector<unsigned>& gpus, unsigned ranks)
      : topology_(topology),
        pairs_(topology),
        gpus_(gpus),
        ranks_(ranks),
        size_(gpus.size() / ranks),
        used_(gpus.size(), false) {
    for (std::size_t a = 0; a < gpus.size(); ++a)
      for (std::size_t b = 0; b < gpus.size(); ++b) alike_.push_back(are_alike(a, b));
  }

  GpuWays run() {
    const Groups packed = Packing(topology_, gpus_, size_).run(ranks_);
    for (const auto& group : packed) best_ += pairs_.of(group);
    open_group();
    const bool all = looks_ < k_most_looks && ways_.size() < k_most_ways;
    // Alike to one of those that were found, where all were.
    if (ways_.empty() || (!all && std::find(ways_.begin(), ways_.end(), packed) == ways_.end() &&
                          !(best_ < apart(packed))))
      ways_.insert(ways_.begin(), packed);
    return {std::move(ways_), all};
  }

 private:
  [[nodiscard]] GpusApart apart(const Groups& groups) const {
    GpusApart sum;
    for (const auto& group : groups) sum += pairs_.of(group);
    return sum;
  }

  // Two that nothing tells apart.
  [[nodiscard]] bool are_alike(std::size_t a, std::size_t b) const {
    if (pairs_.steps(gpus_[a], gpus_[b]) != 0 ||
        topology_.gpus[gpus_[a]].bridges != topology_.gpus[gpus_[b]].bridges)
      return false;
    return std::all_of(gpus_.begin(), gpus_.end(), [&](unsigned other) {
      return other == gpus_[a] || other == gpus_[b] ||
             pairs_.linked(gpus_[a], other) == pairs_.linked(gpus_[b], other);
    });
  }

  // More GPUs never bring those of a rank nearer, but for links.
  [[nodiscard]] bool is_hopeless(const GpusApart& so_far) const {
    if (so_far.packages != best_.packages) return so_far.packages > best_.packages;
    if (so_far.numas != best_.numas) return so_far.numas > best_.numas;
    return topology_.links.empty() && so_far.paths > best_.paths;
  }

  void finish() {
    if (best_ < closed_) return;
    if (closed_ < best_) ways_.clear();
    best_ = closed_;
    ways_.push_back(groups_);
  }

  [[nodiscard]] bool is_over() { return ways_.size() >= k_most_ways || ++looks_ >= k_most_looks; }

  // The next group begins with the first that is free, or leaves it out where some are left over.
  void open_group() {
    if (groups_.size() == ranks_) return finish();
    if (is_over()) return;
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
    GpusApart so_far = closed_;
    so_far += pairs_.of(groups_.back());
    if (is_hopeless(so_far)) return;
    if (groups_.back().size() == size_) {
      std::swap(closed_, so_far);
      open_group();
      std::swap(closed_, so_far);
      return;
    }
    if (is_over()) return;
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
    std::vector<std::tuple<unsigned, std::int64_t, unsigned, std::size_t>> ranked;
    for (std::size_t next = last + 1; next < gpus_.size(); ++next) {
      if (used_[next]) continue;
      unsigned far = 0, path = 0;
      std::int64_t linked = 0;
      for (const unsigned member : groups_.back()) {
        far += pairs_.steps(member, gpus_[next]);
        linked += pairs_.linked(member, gpus_[next]);
        path += pairs_.path(member, gpus_[next]);
      }
      ranked.emplace_back(far, -linked, path, next);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::size_t> order;
    for (const auto& one : ranked) order.push_back(std::get<3>(one));
    return order;
  }

  const NodeTopology& topology_;
  const GpuPairs pairs_;
  const std::vector<unsigned>& gpus_;
  const std::size_t ranks_, size_;
  std::vector<bool> alike_;  // of each two, by row
  std::vector<bool> used_;
  std::size_t skipped_ = 0, looks_ = 0;
  Groups groups_;
  GpusApart closed_, best_;  // of the groups that are full; of the best way
  std::vector<Groups> ways_;
};

}  // namespace

GpuWays nearest_groups(const NodeTopology& topology,
                       const std::vector<unsigned>& gpus,
                       unsigned ranks) {
  return Search(topology, gpus, ranks).run();
}

}  // namespace dts::plan
