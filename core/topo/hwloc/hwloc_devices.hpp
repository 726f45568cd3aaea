// SPDX-License-Identifier: Apache-2.0
// The GPUs of an hwloc topology and the links between them. Private to core/topo.
#pragma once

#include "core/topo/hwloc/hwloc_numas.hpp"
#include "core/topo/topology.hpp"

#include <hwloc.h>

#include <string>
#include <vector>

namespace dts::topo {

// The GPUs in the order of NodeTopology. A GPU is a PCI device whose class and vendor are a GPU's,
// or that a GPU library knows (hwloc's OS devices); a device that such a library shows outside of
// PCI; or one of several that it shows at the same PCI address.
[[nodiscard]] std::vector<Gpu> gpus_of(hwloc_topology_t topology, const NumaNodes& numas);

// One sentence for each device that would count as a GPU if there were no NVIDIA GPU.
[[nodiscard]] std::vector<std::string> uncounted_gpus(hwloc_topology_t topology);

// True if there is one on PCI, with or without a loaded driver.
[[nodiscard]] bool has_nvidia_gpu(hwloc_topology_t topology);

// The links between `gpus`, which hwloc has from the vendors' libraries; empty: unknown.
[[nodiscard]] std::vector<GpuLink> links_of(hwloc_topology_t topology,
                                            const std::vector<Gpu>& gpus);

}  // namespace dts::topo
