// SPDX-License-Identifier: Apache-2.0
// The network interfaces of this host, their addresses and link speeds. Thread-safe.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

namespace dts {

// An IPv4 or IPv6 socket address as text, without the "::ffff:" of an IPv4-mapped address; empty
// for any other family.
[[nodiscard]] std::string numeric_address(const sockaddr* address, socklen_t length);

struct HostAddress {
  std::string address;    // numeric
  std::string interface;  // "eth0"
};

// Addresses of the interfaces that are up, loopback ones last. Link-local IPv6 addresses are
// omitted, since they mean nothing without an interface.
[[nodiscard]] std::vector<HostAddress> interface_addresses();

// Megabits per second of a network adapter or a bond, from the kernel's `speed`
// (Documentation/ABI/testing/sysfs-class-net). 0: unknown, or it has none: a bridge, one end of a
// pair. `folder` contains the kernel's folders of interfaces.
[[nodiscard]] unsigned link_speed(const std::string& interface,
                                  const std::string& folder = "/sys/class/net");

// The interface that has this address; empty: none has it.
[[nodiscard]] std::string interface_of(const std::string& address);

}  // namespace dts
