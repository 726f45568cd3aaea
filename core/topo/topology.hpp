// SPDX-License-Identifier: Apache-2.0
// One node as a value: what a process may use of it, in hwloc's logical order.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dts::topo {

struct Core {
  unsigned package = 0;  // logical index of its package (socket)
  unsigned numa = 0;     // logical index of its NUMA node; 0 where hwloc names none
  unsigned l3 = 0;       // logical index of its L3; 0 where hwloc names none
  std::vector<unsigned>
      pus;  // OS indices of its hardware threads we may run on, ascending, never empty
};

// The smallest part of the node that a device hangs from. Absent: it hangs from a larger one, so
// that the parts of that are all alike to it.
struct Gpu {
  std::string pci;                    // "0000:3b:00.0"
  std::optional<unsigned> package{};  // logical indices, as Core has them
  std::optional<unsigned> numa{};
  std::optional<unsigned> l3{};
};

// An active port of an InfiniBand or RoCE adapter.
struct FabricPort {
  std::string hca;          // the kernel's name, "mlx5_0"
  unsigned port = 1;        // as the adapter counts, from 1
  unsigned gbps = 0;        // 0: unknown
  bool infiniband = false;  // else Ethernet
};

struct NodeTopology {
  std::vector<Core> cores;  // only those with an allowed PU, logical order
  std::vector<Gpu> gpus;    // display and accelerator devices of GPU vendors, in PCI bus order
  std::vector<FabricPort> fabric;  // by name and port, mlx5_2 before mlx5_10
};

}  // namespace dts::topo
