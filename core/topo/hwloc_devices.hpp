// SPDX-License-Identifier: Apache-2.0
// What load() asks an hwloc topology beside its cores. Private to core/topo.
#pragma once

#include "core/topo/topology.hpp"

#include <hwloc.h>

#include <vector>

namespace dts::topo {

// The NUMA node of the smallest locality that covers `cpus`; the first of several, which is the
// DRAM where a GPU's or a high-bandwidth memory shares the processors. Null where none covers them
// all, or where parts of them have smaller ones of their own (a device attached to a package of
// several nodes, also where that has further memory for all of it).
[[nodiscard]] hwloc_obj_t numa_around(hwloc_topology_t topology, hwloc_const_bitmap_t cpus);

// Both in the order of NodeTopology. A GPU is a PCI device that is one by its class and vendor, or
// that a GPU library knows (hwloc's OS devices); one that such a library shows outside of PCI; or
// one of the several that it shows at one PCI address.
[[nodiscard]] std::vector<Gpu> gpus_of(hwloc_topology_t topology);
[[nodiscard]] std::vector<Nic> nics_of(hwloc_topology_t topology);

// One on PCI, whether or not a driver is loaded.
[[nodiscard]] bool has_nvidia_gpu(hwloc_topology_t topology);

// Of `gpus`, as the libraries of their vendors have told hwloc; empty: nothing is known.
[[nodiscard]] std::vector<GpuLink> links_of(hwloc_topology_t topology,
                                            const std::vector<Gpu>& gpus);

}  // namespace dts::topo
