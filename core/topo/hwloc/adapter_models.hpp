// SPDX-License-Identifier: Apache-2.0
// Network adapters by their PCI IDs. Pure.
#pragma once

namespace dts::topo {

// The maximum bandwidth of a port of this model in Gb/s; 0: unknown. Used for recorded machines,
// whose link speeds are unknown: the bandwidth of the PCI slot would overestimate a slow adapter.
// From the PCI ID repository (pci-ids.ucw.cz) and the vendors' data sheets.
[[nodiscard]] unsigned most_gbps(unsigned vendor, unsigned device);

// True for a virtual function, which shares the port of its physical one.
[[nodiscard]] bool is_virtual_function(unsigned vendor, unsigned device);

}  // namespace dts::topo
