// SPDX-License-Identifier: Apache-2.0
// The PCI devices of an hwloc topology and their OS names. Private to core/topo.
#pragma once

#include "core/topo/hwloc/hwloc_numas.hpp"
#include "core/topo/topology.hpp"

#include <hwloc.h>

#include <map>
#include <string>
#include <vector>

namespace dts::topo {

// A Device with the location of `object` and the bridges above it, but no other members.
[[nodiscard]] Device place_of(hwloc_topology_t topology,
                              const NumaNodes& numas,
                              hwloc_obj_t object);

// The OS devices below each PCI device; those below none have the key null.
using OsDevices = std::map<hwloc_obj_t, std::vector<hwloc_obj_t>>;

[[nodiscard]] OsDevices os_devices(hwloc_topology_t topology);

// The elements of `devices` that are below `pci`.
[[nodiscard]] const std::vector<hwloc_obj_t>& below(const OsDevices& devices, hwloc_obj_t pci);

// All PCI devices, in the order of their addresses.
[[nodiscard]] std::vector<hwloc_obj_t> pci_devices(hwloc_topology_t topology);

// "0000:3b:00.0"
[[nodiscard]] std::string pci_address(hwloc_obj_t device);

}  // namespace dts::topo
