// SPDX-License-Identifier: Apache-2.0
// Restricts a node to some of its processors. Pure.
#pragma once

#include "core/topo/topology.hpp"

namespace dts::topo {

// `node` restricted to the PUs (OS indices, in any order) in `pus`; devices, NUMA nodes and
// distances remain those of the whole machine.
[[nodiscard]] NodeTopology restrict_to(NodeTopology node, const std::vector<unsigned>& pus);

}  // namespace dts::topo
