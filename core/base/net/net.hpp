// SPDX-License-Identifier: Apache-2.0
// TCP for the control channel and the rendezvous: IPv4 and IPv6, addresses as text.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts {

// Creates a listening socket on all interfaces (both families if the host has IPv6). `port` 0: any.
[[nodiscard]] Result<UniqueFd> listen_on(unsigned port);

// A port for a program that will bind it later. Until then, `socket` keeps all other processes from
// using it. While open, `claim` keeps our other ranks on this host from using it, even between the
// closing of `socket` and the program's own bind, and while the program has closed it.
struct HeldPort {
  UniqueFd socket;
  UniqueFd claim;
  unsigned port = 0;  // 0: none was free
};

// The first of `ports` that no process listens on and no other rank holds.
[[nodiscard]] HeldPort hold_first_free_port(const std::vector<unsigned>& ports);

// The port a socket is bound to.
[[nodiscard]] unsigned local_port(int fd);

// Accepts one connection, close-on-exec; not valid() if none was waiting.
[[nodiscard]] UniqueFd accept_from(int listener);

// Connects to `host` (name or address) through whichever of its addresses answers first. Attempts
// start a quarter of a second apart (RFC 8305); `limit` counts from the last. Errc::unreachable.
[[nodiscard]] Result<UniqueFd> connect_to(const std::string& host,
                                          unsigned port,
                                          std::chrono::milliseconds limit);

// The same for the addresses of all `hosts`; loopback addresses are tried only if the others fail.
[[nodiscard]] Result<UniqueFd> connect_to_any(const std::vector<std::string>& hosts,
                                              unsigned port,
                                              std::chrono::milliseconds limit);

// True for a numeric address of the host itself.
[[nodiscard]] bool is_loopback(const std::string& address);

// Numeric addresses of this end and of the other end of a connection ("::ffff:" removed).
[[nodiscard]] std::string local_address(int fd);
[[nodiscard]] std::string peer_address(int fd);

[[nodiscard]] std::string host_name();

}  // namespace dts
