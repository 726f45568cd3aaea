// SPDX-License-Identifier: Apache-2.0
// The network adapters of an hwloc topology. Private to core/topo.
#pragma once

#include "core/topo/hwloc/hwloc_numas.hpp"
#include "core/topo/topology.hpp"

#include <hwloc.h>

#include <string>
#include <vector>

namespace dts::topo {

// In the order of NodeTopology. An adapter has an OpenFabrics device, or is InfiniBand, Omni-Path,
// Slingshot or EFA by its PCI IDs. `link` is what OpenFabrics recorded; `gbps` is the maximum of
// the model, since hwloc does not record port speeds. Virtual functions beside their physical one
// are left out; `notes` then says so.
[[nodiscard]] std::vector<Nic> nics_of(hwloc_topology_t topology,
                                       const NumaNodes& numas,
                                       std::vector<std::string>& notes);

}  // namespace dts::topo
