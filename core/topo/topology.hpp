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

struct NodeTopology {
  std::vector<Core> cores;  // only those with an allowed PU, logical order
  std::vector<Gpu> gpus;    // display and accelerator devices of GPU vendors, in PCI bus order
};

}  // namespace dts::topo
