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

// GPUs that have so far been close enough to stay together.
using Unit = std::vector<unsigned>;

// Takes a complete group out of `units`, which have enough GPUs and are in descending order of
// size. `fitting`: after the first unit, the largest that fits comes next, otherwise some GPUs of
// the smallest.
std::vector<unsigned> take_group(std::vector<Unit>& units, std::size_t size, Filling filling) {
  std::vector<unsigned> group;
  while (group.size() < size) {
    const std::size_t lack = size - group.size();
    auto next = units.begin();
    if (!group.empty() && filling == Filling::fitting)
      next = std::find_if(
          units.begin(), units.end(), [&](const Unit& unit) { return unit.size() <= lack; });
    if (next == units.end()) --next;
    const auto count = static_cast<std::ptrdiff_t>(std::min(lack, next->size()));
    group.insert(group.end(), next->begin(), next->begin() + count);
    next->erase(next->begin(), next->begin() + count);
    if (next->empty()) units.erase(next);
  }
  return group;
}

class Packing {
 public:
  Packing(const NodeTopology& topology,
          const std::vector<unsigned>& gpus,
          std::size_t size,
          Filling filling)
      : topology_(topology), size_(size), filling_(filling) {
    for (const unsigned gpu : gpus) left_.push_back({gpu});
  }

  Groups run(std::size_t ranks) {
    std::size_t depth = 0;
    for (const Unit& unit : left_) depth = std::max(depth, topology_.gpus[unit[0]].bridges.size());
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
  // Forms complete groups of GPUs with the same key. The remaining ones of a key stay together. The
  // GPUs of a unit always have the same key, because each level's key is a part of the one below.
  template <class KeyOf>
  void close_groups(const KeyOf& key_of) {
    std::map<decltype(key_of(0U)), std::vector<Unit>> pools;
    for (Unit& unit : left_) pools[key_of(unit[0])].push_back(std::move(unit));
    left_.clear();
    for (auto& [key, units] : pools) {
      std::size_t count = 0;
      for (const Unit& unit : units) count += unit.size();
      std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
        return a.size() > b.size();
      });
      for (; count >= size_; count -= size_) groups_.push_back(take_group(units, size_, filling_));
      Unit rest;
      for (const Unit& unit : units) rest.insert(rest.end(), unit.begin(), unit.end());
      if (!rest.empty()) left_.push_back(std::move(rest));
    }
  }

  const NodeTopology& topology_;
  const std::size_t size_;
  const Filling filling_;
  std::vector<Unit> left_;
  Groups groups_;
};

}  // namespace

Groups pack_gpus(const NodeTopology& topology,
                 const std::vector<unsigned>& gpus,
                 unsigned ranks,
                 std::size_t each,
                 Filling filling) {
  return Packing(topology, gpus, each, filling).run(ranks);
}

}  // namespace dts::plan
