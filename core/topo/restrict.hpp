// SPDX-License-Identifier: Apache-2.0
// A part of a node's processors. Pure.
#pragma once

#include "core/topo/topology.hpp"

namespace dts::topo {

// `node` restricted to the PUs (OS indices, in any order) in `pus`; devices, NUMA nodes and
// distances stay those of the whole machine.
[[nodiscard]] NodeTopology restrict_to(NodeTopology node, const std::vector<unsigned>& pus);

}  // namespace dts::topo
