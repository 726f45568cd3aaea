// SPDX-License-Identifier: Apache-2.0
// Loopback addresses and ports of one cluster, distinct from those of every other cluster on this
// machine.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace dts::cluster {

// The controller has port `port`, node i has `port + 1 + i`, and slurmdbd has the last port of the
// block. Addresses are 127.a.b.1, also slurmdbd's, and 127.a.b.(2 + i). With accounting the first
// is 127.0.0.1: slurmdbd sends changed accounts and limits to the address from which slurmctld
// connects, which the kernel makes 127.0.0.1 for any address in 127/8.
struct Endpoints {
  unsigned a = 0;
  unsigned b = 0;
  std::uint16_t port = 0;
  bool accounting = false;

  [[nodiscard]] std::string controller_address() const;
  [[nodiscard]] std::string node_address(unsigned node) const;

  [[nodiscard]] std::uint16_t node_port(unsigned node) const {
    return static_cast<std::uint16_t>(port + 1 + node);
  }

  [[nodiscard]] std::uint16_t accounting_port() const;

  // Differs between all clusters on this machine: Open MPI and PMIx derive machine-wide file names
  // from host name, user and job, and a program that finds another cluster's file dies.
  [[nodiscard]] std::uint32_t first_job() const;

  friend bool operator==(const Endpoints&, const Endpoints&) = default;
};

// The `attempt`-th proposal for a cluster identified by `identity` (its folder). Deterministic and
// pure. Ports are in [20000, ephemeral_low) with room for 66 of them; never 127.0.x.x, which other
// programs use.
[[nodiscard]] Endpoints propose_endpoints(std::string_view identity,
                                          unsigned attempt,
                                          unsigned ephemeral_low = 32768);

// True if every address and port of `nodes` nodes, and slurmdbd's, can be bound now. Slurm's
// daemons listen on all addresses, so the ports are probed on the wildcard address.
[[nodiscard]] bool are_free(const Endpoints& endpoints, unsigned nodes);

// Errc::invalid if Slurm could not use such addresses: it calls getaddrinfo(3) with AI_ADDRCONFIG,
// which finds no IPv4 address on a machine that has none outside 127/8.
[[nodiscard]] Result<void> check_resolvable(const Endpoints& endpoints);

}  // namespace dts::cluster
