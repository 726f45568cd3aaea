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
  std::string pci;                       // in the format of Device::pci
  std::string uuid{};                    // empty: unknown
  std::vector<std::string> instances{};  // UUIDs of its MIG instances
  unsigned switched = 0;                 // active NVLinks to an NVSwitch
  std::string model{};                   // product name; empty: unknown
  std::vector<std::string> peers{};      // far ends of the other active NVLinks, by PCI
};

// Omits GPUs whose PCI address is unknown. Errc::not_found if there is no library or no driver.
// Takes as long as the driver does.
[[nodiscard]] Result<std::vector<NvmlGpu>> read_nvml(const char* library);

// Adds what NVML knows to `node`; GPUs are matched by PCI address. A GPU that only NVML has is
// added without a location; a GPU that only the node has stays as it is. Links that `node` already
// has are kept. Otherwise their weight is the number of NVLinks, which through a switch is that of
// the GPU with fewer links. Pure.
[[nodiscard]] NodeTopology with_nvml(NodeTopology node, const std::vector<NvmlGpu>& known);

// Does the same for this machine, queried in a separate process. If this process crashes or takes
// longer than `limit`, it is abandoned, and `node` gets a doubt. Without NVML, `node` is unchanged.
// Call it before threads are started.
[[nodiscard]] NodeTopology add_nvml(NodeTopology node,
                                    const char* library,
                                    std::chrono::milliseconds limit);

}  // namespace dts::topo
