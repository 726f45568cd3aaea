// SPDX-License-Identifier: Apache-2.0
// Network adapters by their PCI numbers. Pure.
#pragma once

namespace dts::topo {

// The most that a port of this model can carry, in Gb/s; 0: not known. For recorded machines, where
// the speed of the link is not: what the PCI slot of a slow adapter could carry says too much of
// it. From the PCI ID repository (pci-ids.ucw.cz) and the vendors' data sheets.
[[nodiscard]] unsigned most_gbps(unsigned vendor, unsigned device);

}  // namespace dts::topo
