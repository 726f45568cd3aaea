// SPDX-License-Identifier: Apache-2.0
// Which of a node's ports are for computing. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <cstdint>
#include <utility>

namespace dts::plan {

// Better ports are less: InfiniBand, Omni-Path and Slingshot before Ethernet, then the fastest.
using PortWorth = std::pair<bool, std::int64_t>;

[[nodiscard]] inline PortWorth worth(const topo::FabricPort& port) {
  return {!port.infiniband, -std::int64_t{port.gbps}};
}

}  // namespace dts::plan
