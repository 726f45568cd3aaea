// SPDX-License-Identifier: Apache-2.0
// Detects implausible firmware data about devices. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::topo {

// One sentence per doubt, which says what to do. There are two kinds, both on machines with several
// packages: GPUs whose NUMA node and package are unknown (numa_node -1, or a group of packages),
// and four or more GPUs that are all attached to one package.
[[nodiscard]] std::vector<std::string> find_doubts(const NodeTopology& node);

}  // namespace dts::topo
