// SPDX-License-Identifier: Apache-2.0
// The GPUs of an hwloc topology, and what links them. Private to core/topo.
#pragma once

#include "core/topo/hwloc/hwloc_numas.hpp"
#include "core/topo/topology.hpp"

#include <hwloc.h>

#include <string>
#include <vector>

namespace dts::topo {

// In the order of NodeTopology. A GPU is a PCI device that is one by its class and vendor, or that
// a GPU library knows (hwloc's OS devices); one that such a library shows outside of PCI; or one of
// the several that it shows at one PCI address.
[[nodiscard]] std::vector<Gpu> gpus_of(hwloc_topology_t topology, const NumaNodes& numas);

// A sentence for each device that would be a GPU if there were none of NVIDIA's.
[[nodiscard]] std::vector<std::string> uncounted_gpus(hwloc_topology_t topology);

// One on PCI, whether or not a driver is loaded.
[[nodiscard]] bool has_nvidia_gpu(hwloc_topology_t topology);

// The links of `gpus`, as hwloc got them from the vendors' libraries; empty: nothing is known.
[[nodiscard]] std::vector<GpuLink> links_of(hwloc_topology_t topology,
                                            const std::vector<Gpu>& gpus);

}  // namespace dts::topo
