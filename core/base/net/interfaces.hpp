// SPDX-License-Identifier: Apache-2.0
// The network interfaces of this host: their addresses and how fast their links are. Thread-safe.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

namespace dts {

// A socket address of IPv4 or IPv6 as text, without the "::ffff:" of an IPv4 address in IPv6; empty
// for any other family.
[[nodiscard]] std::string numeric_address(const sockaddr* address, socklen_t length);

struct HostAddress {
  std::string address;    // numeric
  std::string interface;  // "eth0"
};

// Addresses of the interfaces that are up, loopback ones last; link-local IPv6 is left out because
// it means nothing without an interface.
[[nodiscard]] std::vector<HostAddress> interface_addresses();

// Megabits a second of a network adapter or a bond of several, as the kernel's `speed` has it
// (Documentation/ABI/testing/sysfs-class-net). 0: not known, or none of its own: a bridge, one end
// of a pair. `folder` is where interfaces have theirs.
[[nodiscard]] unsigned link_speed(const std::string& interface,
                                  const std::string& folder = "/sys/class/net");

// The interface that has this address; empty: none has it.
[[nodiscard]] std::string interface_of(const std::string& address);

}  // namespace dts
