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
  std::string pci;                       // as Device has it
  std::string uuid{};                    // empty: not known
  std::vector<std::string> instances{};  // UUIDs of its MIG instances
  unsigned switched = 0;                 // active NVLinks to an NVSwitch
  std::string model{};                   // its product; empty: not known
  std::vector<std::string> peers{};      // what each other active NVLink reaches, by PCI address
};

// A GPU of which not even the PCI address is known is left out. Errc::not_found: no library or no
// driver here. As slow as the driver is.
[[nodiscard]] Result<std::vector<NvmlGpu>> read_nvml(const char* library);

// `node` with what NVML knows, GPUs matched by PCI address. One that only NVML has is added, of
// which no place is known; one that only the node has stays as it is. Links that `node` already has
// are kept; else their weight is the number of NVLinks, of the GPU with fewer where they go through
// a switch. Pure.
[[nodiscard]] NodeTopology with_nvml(NodeTopology node, const std::vector<NvmlGpu>& known);

// The same of this machine, asked in a process of its own: one that crashes, or is not done within
// `limit`, is left to itself, and `node` has a doubt more. Without NVML `node` is as it was. To be
// called before threads are started.
[[nodiscard]] NodeTopology add_nvml(NodeTopology node,
                                    const char* library,
                                    std::chrono::milliseconds limit);

}  // namespace dts::topo
