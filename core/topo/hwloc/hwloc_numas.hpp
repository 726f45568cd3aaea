// SPDX-License-Identifier: Apache-2.0
// The NUMA nodes of an hwloc topology, including those without memory. Private to core/topo.
#pragma once

#include "core/topo/topology.hpp"

#include <hwloc.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace dts::topo {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};

using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

// hwloc 2 has NUMA objects only for memory, so the cores of a die without memory are in none,
// although they are as far from the memory and devices of other dies as those dies are from each
// other. Here, each such die is a NUMA node of its own.
class NumaNodes {
 public:
  explicit NumaNodes(hwloc_topology_t topology);

  // All nodes by index; has_cores is not set yet.
  [[nodiscard]] std::vector<NumaNode> describe() const;

  // The index of the smallest node that covers `cpus`. Of several, the one that the kernel numbers
  // first, which is the DRAM if a GPU's memory or high-bandwidth memory shares the processors.
  // Absent if none covers them all, or if parts of them have smaller nodes of their own (a device
  // attached to a package of several nodes, even if that package has further memory for all of it).
  [[nodiscard]] std::optional<unsigned> around(hwloc_const_bitmap_t cpus) const;

  // The smallest nodes of each of `cpus`, ascending.
  [[nodiscard]] std::vector<unsigned> of(hwloc_const_bitmap_t cpus) const;

 private:
  struct Node {
    unsigned os = 0;
    std::uint64_t bytes = 0;
    Bitmap cpus;
    bool has_memory = true;
    std::optional<unsigned> package{};  // that the file puts it into, even if it has no processors
  };

  void add_dies_without_memory();

  hwloc_topology_t topology_;
  std::vector<Node> nodes_;
};

}  // namespace dts::topo
