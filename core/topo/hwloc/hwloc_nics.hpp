// SPDX-License-Identifier: Apache-2.0
// The network adapters of an hwloc topology. Private to core/topo.
#pragma once

#include "core/topo/hwloc/hwloc_numas.hpp"
#include "core/topo/topology.hpp"

#include <hwloc.h>

#include <vector>

namespace dts::topo {

// In the order of NodeTopology. An adapter has an OpenFabrics device, or is InfiniBand, Omni-Path,
// Slingshot or EFA by its PCI IDs. `link` is what OpenFabrics recorded; `gbps` is the maximum of
// the model, since hwloc does not record port speeds.
[[nodiscard]] std::vector<Nic> nics_of(hwloc_topology_t topology, const NumaNodes& numas);

}  // namespace dts::topo
