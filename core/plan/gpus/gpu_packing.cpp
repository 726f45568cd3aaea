// SPDX-License-Identifier: Apache-2.0
#include "core/plan/gpus/gpu_packing.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace dts::plan {
namespace {

using topo::NodeTopology;
using Groups = std::vector<std::vector<unsigned>>;

// The location of a GPU, down to the bridge at `depth`.
auto place_of(const topo::Gpu& gpu, std::size_t depth) {
  std::vector<unsigned> above = gpu.bridges;
  above.resize(std::min(depth, above.size()));
  return std::make_tuple(gpu.package, gpu.numa, gpu.group, std::move(above));
}

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
    close_groups([&](unsigned gpu) { return place_of(gpus[gpu], 0); });
    close_groups([&](unsigned gpu) { return gpus[gpu].package; });
    close_groups([](unsigned) { return 0; });
    groups_.resize(ranks);
    for (auto& group : groups_) std::sort(group.begin(), group.end());
    std::sort(groups_.begin(), groups_.end());
    return groups_;
  }

 private:
  // Forms complete groups of GPUs with the same key. The remaining ones stay together, the largest
  // set first.
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

}  // namespace

Groups pack_gpus(const NodeTopology& topology,
                 const std::vector<unsigned>& gpus,
                 unsigned ranks,
                 std::size_t each) {
  return Packing(topology, gpus, each).run(ranks);
}

}  // namespace dts::plan
