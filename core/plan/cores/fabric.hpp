// SPDX-License-Identifier: Apache-2.0
// The adapters and ports of a node that are for computing. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::plan {

// An adapter with a link, or a port of one.
struct Carrier {
  topo::Network network = topo::Network::infiniband;
  unsigned gbps = 0;      // 0: unknown
  std::string card{};     // the functions of one device, which share a PCI link
  unsigned pci_gbps = 0;  // speed of that link; 0: unknown
};

// The indices of the carriers that form the best network, ascending. All are of one network,
// because peers on different networks cannot reach each other. In each network, those are chosen
// that carry the most together if each runs at the speed of the slowest of them, excluding any less
// than half as fast as the fastest. Then the network that carries the most wins, on a tie the one
// with the faster adapters. Ethernet must carry twice as much, because it is often for storage or
// management, and lossless only if configured so. InfiniBand, Omni-Path, Slingshot and EFA adapters
// of unknown speed count as 100 Gb/s each, which most of them carry at least; Ethernet of unknown
// speed, often for management, is used only if no speed is known.
[[nodiscard]] std::vector<std::size_t> best_network(std::vector<Carrier> carriers);

// The bandwidth of an adapter in Gb/s: that of its port or its PCI link, whichever is slower; 0:
// unknown.
[[nodiscard]] unsigned speed_of(const topo::Nic& nic);

// The functions of one card have all but the last part of their PCI addresses in common.
[[nodiscard]] std::string card_of(const topo::Nic& nic);

// The fastest active ports of an adapter that speak its network: indices into NodeTopology::fabric.
[[nodiscard]] std::vector<std::size_t> ports_of(const topo::NodeTopology& node,
                                                const topo::Nic& nic);

[[nodiscard]] const char* to_string(topo::Network network);

}  // namespace dts::plan
