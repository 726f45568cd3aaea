// SPDX-License-Identifier: Apache-2.0
// A part of a node's processors. Pure.
#pragma once

#include "core/topo/topology.hpp"

namespace dts::topo {

// `node` with those of its PUs (OS indices, in any order) that are among `pus`: devices, NUMA nodes
// and distances stay those of the whole machine.
[[nodiscard]] NodeTopology restrict_to(NodeTopology node, const std::vector<unsigned>& pus);

}  // namespace dts::topo
