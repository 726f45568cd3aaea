// SPDX-License-Identifier: Apache-2.0
// A rank's part in the rendezvous: the ports that it reserves for its program, and the routes by
// which it reaches rank 0.
#pragma once

#include "core/base/net/net.hpp"
#include "core/launch/wire/protocol.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

// Reserves a port for the program's own server, salted with the rank's number; 0 if none is free.
[[nodiscard]] HeldPort hold_worker_port(const std::string& run_directory,
                                        unsigned attempt,
                                        unsigned rank);

// Reserves one of the ports that Slurm assigned to this step, if the site configures that
// (slurm.conf, MpiParams=ports), otherwise one of `ports`. `note` says what is unusual about the
// port.
[[nodiscard]] HeldPort hold_master_port(const std::vector<unsigned>& ports, std::string& note);

// Answers any peer that connects to the reserved port with the nonce and the name of the interface
// on which it arrived. Does not block.
void answer_probe(const HeldPort& rendezvous, const std::string& nonce);

// Tries the addresses of `probe` and returns those that lead to the socket that rank 0 holds.
// Blocks for a second or two.
[[nodiscard]] Reached follow(const Probe& probe);

}  // namespace dts::launch
