// SPDX-License-Identifier: Apache-2.0
// Which of a node's adapters and ports are for computing. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::plan {

// An adapter, or a port of one, with a link.
struct Carrier {
  topo::Network network = topo::Network::infiniband;
  unsigned gbps = 0;      // 0: unknown
  std::string card{};     // what shares a PCI link: the functions of one device
  unsigned pci_gbps = 0;  // of that link; 0: unknown
};

// The indices of those that make the best network, ascending. All are of one network, because peers
// of two kinds cannot reach each other. Of each, those are taken that carry the most together when
// each carries as much as the slowest of them, but none that is less than half as fast as the
// fastest. Then the network that carries the most is taken; Ethernet only where it is twice as
// much, because it is often storage's or management's, and lossless only where somebody has seen to
// it; of equals that with the faster adapters. One of unknown speed is taken where no speed is
// known.
[[nodiscard]] std::vector<std::size_t> best_network(const std::vector<Carrier>& carriers);

// An adapter's bandwidth in Gb/s: that of its port or its PCI link, whichever is slower; 0:
// unknown.
[[nodiscard]] unsigned speed_of(const topo::Nic& nic);

// The functions of one card have all but the last part of their PCI addresses in common.
[[nodiscard]] std::string card_of(const topo::Nic& nic);

// The active ports of an adapter that speak its network, the fastest of them: indices into
// NodeTopology::fabric.
[[nodiscard]] std::vector<std::size_t> ports_of(const topo::NodeTopology& node,
                                                const topo::Nic& nic);

[[nodiscard]] const char* to_string(topo::Network network);

}  // namespace dts::plan
