// SPDX-License-Identifier: Apache-2.0
// Firmware that says of devices what can hardly be. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::topo {

// A sentence each, with what to do: GPUs of which no NUMA node is known (numa_node -1) on a machine
// of several; four or more GPUs that all hang from one of several packages.
[[nodiscard]] std::vector<std::string> find_doubts(const NodeTopology& node);

}  // namespace dts::topo
