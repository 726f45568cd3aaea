// SPDX-License-Identifier: Apache-2.0
// One node as a value: what a process may use of it, in hwloc's logical order.
#pragma once

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

struct Gpu {
  std::string pci;    // "0000:3b:00.0"
  unsigned numa = 0;  // logical index of the nearest NUMA node
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
