// SPDX-License-Identifier: Apache-2.0
#include "core/base/net/interfaces.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>

namespace dts {

std::string numeric_address(const sockaddr* address, socklen_t length) {
  char text[NI_MAXHOST];
  if (::getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return {};
  const std::string result = text;
  return result.rfind("::ffff:", 0) == 0 ? result.substr(7) : result;
}

namespace {

struct InterfaceAddress {
  std::string interface;
  std::string address;
  bool loopback = false;
};

std::vector<InterfaceAddress> usable_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<InterfaceAddress> found;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    const std::string text = numeric_address(one->ifa_addr, length);
    if (text.empty() || text.rfind("fe80:", 0) == 0) continue;
    found.push_back({one->ifa_name, text, (one->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return found;
}

}  // namespace

std::vector<HostAddress> interface_addresses() {
  std::vector<InterfaceAddress> found = usable_addresses();
  std::stable_partition(found.begin(), found.end(), [](const auto& one) { return !one.loopback; });
  std::vector<HostAddress> addresses;
  for (InterfaceAddress& one : found)
    addresses.push_back({std::move(one.address), std::move(one.interface)});
  return addresses;
}

unsigned link_speed(const std::string& interface, const std::string& folder) {
  const std::string own = folder + "/" + interface;
  if (!exists(own + "/device") && !exists(own + "/bonding")) return 0;
  const auto text = read_file(own + "/speed", 64);
  if (!text) return 0;  // the link is down
  const auto speed = parse_number(trim(*text));
  return speed && *speed < 100'000'000 ? static_cast<unsigned>(*speed) : 0;  // -1: unknown
}

std::string interface_of(const std::string& address) {
  // All of 127.0.0.0/8 belongs to the loopback interface, although it lists only one address.
  const std::string listed = address.rfind("127.", 0) == 0 ? "127.0.0.1" : address;
  for (const InterfaceAddress& one : usable_addresses())
    if (one.address == listed) return one.interface;
  return {};
}

}  // namespace dts
