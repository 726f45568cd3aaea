// SPDX-License-Identifier: Apache-2.0
// Detects implausible firmware data about devices. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::topo {

// One sentence per doubt, with what to do: on a machine of several packages, GPUs of which neither
// the NUMA node nor the package is known (numa_node -1, or a group of packages), or four or more
// GPUs all attached to one package.
[[nodiscard]] std::vector<std::string> find_doubts(const NodeTopology& node);

}  // namespace dts::topo
