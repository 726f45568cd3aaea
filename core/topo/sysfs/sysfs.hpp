// SPDX-License-Identifier: Apache-2.0
// A node's processors and memory as the kernel describes them in /sys, for builds without hwloc.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::topo {

// `system`: /sys/devices/system, or a copy of it. Cores and NUMA nodes are in the order of the
// kernel's numbers. A processor for which /sys has no core is a core of its own. Errc::invalid if
// none of `allowed` is online.
[[nodiscard]] Result<NodeTopology> read_sysfs(const std::string& system,
                                              const std::vector<unsigned>& allowed);

// `node` with the NUMA node and package of each GPU, from `devices`: /sys/bus/pci/devices, or a
// copy.
[[nodiscard]] NodeTopology with_places(NodeTopology node, const std::string& devices);

}  // namespace dts::topo
