// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/hwloc_numas.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace dts::topo {
namespace {

// The largest part of the machine around `core` that contains no memory.
hwloc_obj_t die_of(hwloc_obj_t core) {
  hwloc_obj_t die = core;
  for (hwloc_obj_t at = core; at != nullptr && hwloc_bitmap_iszero(at->nodeset); at = at->parent)
    die = at;
  return die;
}

// The kernel's number of the memoryless node that `die` is; -1: not recorded.
int number_of(hwloc_topology_t topology, hwloc_obj_t die) {
  if (die->complete_nodeset == nullptr) return -1;
  const Bitmap others(hwloc_bitmap_dup(die->complete_nodeset));
  hwloc_bitmap_andnot(others.get(), others.get(), hwloc_get_root_obj(topology)->nodeset);
  return hwloc_bitmap_weight(others.get()) == 1 ? hwloc_bitmap_first(others.get()) : -1;
}

}  // namespace

NumaNodes::NumaNodes(hwloc_topology_t topology) : topology_(topology) {
  bool any_size = false;
  hwloc_obj_t found = nullptr;
  while ((found = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, found)) != nullptr) {
    const std::uint64_t bytes = found->attr->numanode.local_memory;
    nodes_.push_back({found->os_index, bytes, Bitmap(hwloc_bitmap_dup(found->cpuset))});
    const auto* package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, found);
    if (package != nullptr) nodes_.back().package = package->logical_index;
    any_size = any_size || bytes > 0;
  }
  for (Node& node : nodes_) node.has_memory = node.bytes > 0 || !any_size;
  add_dies_without_memory();
}

void NumaNodes::add_dies_without_memory() {
  std::map<int, std::size_t> of_number;
  std::map<hwloc_obj_t, std::size_t> of_die;
  unsigned next = 0;  // above every number in use by the kernel
  for (const Node& node : nodes_) next = std::max(next, node.os + 1);
  if (const auto all = hwloc_get_root_obj(topology_)->complete_nodeset; all != nullptr)
    next = std::max(next, static_cast<unsigned>(hwloc_bitmap_last(all) + 1));
  hwloc_obj_t pu = nullptr;
  while ((pu = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_PU, pu)) != nullptr) {
    if (!hwloc_bitmap_iszero(pu->nodeset)) continue;
    const hwloc_obj_t die = die_of(pu);
    const int number = number_of(topology_, pu);
    const bool is_new = number >= 0 ? of_number.try_emplace(number, nodes_.size()).second
                                    : of_die.try_emplace(die, nodes_.size()).second;
    if (is_new) {
      const unsigned os = number >= 0 ? static_cast<unsigned>(number) : next++;
      nodes_.push_back({os, 0, Bitmap(hwloc_bitmap_alloc()), false});
    }
    const std::size_t index = number >= 0 ? of_number.at(number) : of_die.at(die);
    hwloc_bitmap_or(nodes_[index].cpus.get(), nodes_[index].cpus.get(), pu->cpuset);
  }
}

std::vector<NumaNode> NumaNodes::describe() const {
  std::vector<NumaNode> all;
  for (const Node& node : nodes_) {
    NumaNode& one = all.emplace_back();
    one.os = node.os;
    one.bytes = node.bytes;
    one.has_cores = false;
    one.has_memory = node.has_memory;
    one.package = node.package;
    hwloc_obj_t package = nullptr;
    while ((package = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, package)) != nullptr)
      if (hwloc_bitmap_isincluded(node.cpus.get(), package->cpuset) &&
          !hwloc_bitmap_iszero(node.cpus.get()))
        one.package = package->logical_index;
  }
  return all;
}

std::optional<unsigned> NumaNodes::around(hwloc_const_bitmap_t cpus) const {
  const auto size = [&](unsigned node) { return hwloc_bitmap_weight(nodes_[node].cpus.get()); };
  const auto order = [&](unsigned node) { return std::pair(size(node), nodes_[node].os); };
  std::optional<unsigned> best, within;  // `within`: the smallest node that covers a part of them
  for (unsigned node = 0; node < nodes_.size(); ++node) {
    if (!hwloc_bitmap_intersects(cpus, nodes_[node].cpus.get())) continue;
    auto& found = hwloc_bitmap_isincluded(cpus, nodes_[node].cpus.get()) ? best : within;
    if (!found || order(node) < order(*found)) found = node;
  }
  return best && within && size(*within) < size(*best) ? std::nullopt : best;
}

std::vector<unsigned> NumaNodes::of(hwloc_const_bitmap_t cpus) const {
  std::set<unsigned> found;
  const Bitmap one(hwloc_bitmap_alloc());
  for (int cpu = hwloc_bitmap_first(cpus); one && cpu >= 0; cpu = hwloc_bitmap_next(cpus, cpu)) {
    hwloc_bitmap_only(one.get(), static_cast<unsigned>(cpu));
    if (const auto node = around(one.get())) found.insert(*node);
  }
  return {found.begin(), found.end()};
}

}  // namespace dts::topo
