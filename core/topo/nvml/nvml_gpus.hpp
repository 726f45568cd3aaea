// SPDX-License-Identifier: Apache-2.0
// Properties of a node's GPUs that NVML knows and PCI does not: UUIDs, MIG instances, NVLink.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts::topo {

struct NvmlGpu {
  std::string name;                      // "nvml0", as hwloc calls it
  std::string pci;                       // in the format of Device
  std::string uuid{};                    // empty: unknown
  std::vector<std::string> instances{};  // UUIDs of its MIG instances
  unsigned switched = 0;                 // active NVLinks to an NVSwitch
  std::string model{};                   // its product; empty: unknown
  std::vector<std::string> peers{};      // far ends of the other active NVLinks, by PCI
};

// A GPU whose PCI address is unknown is omitted. Errc::not_found: there is no library or no driver.
// As slow as the driver is.
[[nodiscard]] Result<std::vector<NvmlGpu>> read_nvml(const char* library);

// `node` with what NVML knows; GPUs are matched by PCI address. A GPU that only NVML has is added,
// without a location; one that only the node has stays as it is. Links that `node` already has are
// kept; otherwise their weight is the number of NVLinks, of the GPU with fewer if they go through a
// switch. Pure.
[[nodiscard]] NodeTopology with_nvml(NodeTopology node, const std::vector<NvmlGpu>& known);

// The same for this machine, queried in a separate process. If that crashes or takes longer than
// `limit`, it is abandoned, and `node` gets a doubt. Without NVML, `node` is unchanged. Must be
// called before threads are started.
[[nodiscard]] NodeTopology add_nvml(NodeTopology node,
                                    const char* library,
                                    std::chrono::milliseconds limit);

}  // namespace dts::topo
