// SPDX-License-Identifier: Apache-2.0
// The network adapters of an hwloc topology. Private to core/topo.
#pragma once

#include "core/topo/hwloc/hwloc_numas.hpp"
#include "core/topo/topology.hpp"

#include <hwloc.h>

#include <vector>

namespace dts::topo {

// The adapters in the order of NodeTopology. An adapter has an OpenFabrics device, or is
// InfiniBand, Omni-Path, Slingshot or EFA according to its PCI IDs. `link` is the state that
// OpenFabrics recorded; `gbps` is the maximum of the model, since hwloc does not record the speeds
// of ports.
[[nodiscard]] std::vector<Nic> nics_of(hwloc_topology_t topology, const NumaNodes& numas);

}  // namespace dts::topo
