// SPDX-License-Identifier: Apache-2.0
// Detects implausible firmware data about devices. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::topo {

// One sentence per doubt, with what to do: GPUs without a known NUMA node (numa_node -1) on a
// machine with several, or four or more GPUs all attached to one of several packages.
[[nodiscard]] std::vector<std::string> find_doubts(const NodeTopology& node);

}  // namespace dts::topo
