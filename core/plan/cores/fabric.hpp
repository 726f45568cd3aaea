// SPDX-License-Identifier: Apache-2.0
// The adapters and ports of a node that are meant for computing. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::plan {

// An adapter that has a link, or a port of an adapter.
struct Carrier {
  topo::Network network = topo::Network::infiniband;
  unsigned gbps = 0;      // 0: unknown
  std::string card{};     // identifies the device: its functions share a PCI link
  unsigned pci_gbps = 0;  // speed of this PCI link; 0: unknown
};

// The indices of the carriers that form the best network, ascending. All belong to one network,
// because peers on different networks cannot reach each other. In each network, the chosen carriers
// are those that carry the most together if each runs at the speed of the slowest of them; carriers
// less than half as fast as the fastest are excluded. Then the network that carries the most wins,
// or in a tie the one with the faster adapters. Ethernet must carry twice as much, because it is
// often for storage or management, and lossless only if configured so. InfiniBand, Omni-Path,
// Slingshot and EFA adapters of unknown speed count as 100 Gb/s each, which most of them reach.
// Ethernet of unknown speed is often for management, and is used only if no speed is known.
[[nodiscard]] std::vector<std::size_t> best_network(std::vector<Carrier> carriers);

// The bandwidth of an adapter in Gb/s: the lower of its port's and its PCI link's; 0: unknown.
[[nodiscard]] unsigned speed_of(const topo::Nic& nic);

// Identifies the card of an adapter: PCI addresses of one card's functions differ only in the last
// part.
[[nodiscard]] std::string card_of(const topo::Nic& nic);

// The fastest of an adapter's active ports that speak its network: indices into
// NodeTopology::fabric.
[[nodiscard]] std::vector<std::size_t> ports_of(const topo::NodeTopology& node,
                                                const topo::Nic& nic);

[[nodiscard]] const char* to_string(topo::Network network);

}  // namespace dts::plan
