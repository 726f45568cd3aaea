// SPDX-License-Identifier: Apache-2.0
#include "core/launch/net.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

namespace dts::launch {
namespace {

// The socket API types addresses by cast; these two keep the casts in one place.
sockaddr* as_sockaddr(sockaddr_storage* address) {
  return reinterpret_cast<sockaddr*>(address);
}

std::string numeric(const sockaddr* address, socklen_t length) {
  char text[NI_MAXHOST];
  if (::getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return {};
  const std::string result = text;
  return result.rfind("::ffff:", 0) == 0 ? result.substr(7) : result;
}

Result<UniqueFd> listen_family(int family, unsigned port) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return fail_errno("cannot make a socket");
  const int on = 1, off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage address{};
  socklen_t length = 0;
  if (family == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(port));
    length = sizeof *v6;
  } else {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(port));
    length = sizeof *v4;
  }
  if (::bind(fd.get(), as_sockaddr(&address), length) != 0 || ::listen(fd.get(), SOMAXCONN) != 0)
    return fail_errno(fmt::format("cannot listen on port {}", port));
  return fd;
}

bool connect_within(int fd,
                    const sockaddr* address,
                    socklen_t length,
                    std::chrono::milliseconds limit) {
  if (::connect(fd, address, length) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd waiting{fd, POLLOUT, 0};
  if (::poll(&waiting, 1, static_cast<int>(limit.count())) != 1) {
    errno = ETIMEDOUT;
    return false;
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0;
}

}  // namespace

Result<UniqueFd> listen_on(unsigned port) {
  auto both = listen_family(AF_INET6, port);
  if (both || errno == EADDRINUSE) return both;
  return listen_family(AF_INET, port);
}

namespace {

// Taken by a name in the kernel's table of Unix sockets: it is as wide as the table of TCP ports
// (one network namespace) and no file is left by a rank that is killed. False: somebody has it.
// Where such sockets are forbidden there is no claim, and the port's own socket has to do.
bool claim_port(unsigned port, UniqueFd& claim) {
  claim.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!claim.valid()) return true;
  const std::string name = fmt::format("dtsubmit-port-{}", port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // begins with a null: no file
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ::bind(claim.get(), reinterpret_cast<sockaddr*>(&address), length) == 0 ||
         errno != EADDRINUSE;
}

}  // namespace

HeldPort hold_one_of(const std::vector<unsigned>& ports) {
  for (const unsigned port : ports) {
    HeldPort held;
    if (!claim_port(port, held.claim)) continue;
    auto socket = listen_on(port);
    if (!socket) continue;
    held.socket = std::move(*socket);
    held.port = port;
    return held;
  }
  return {};
}

unsigned local_port(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, as_sockaddr(&address), &length) != 0) return 0;
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

UniqueFd accept_from(int listener) {
  return UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
}

Result<UniqueFd> connect_to(const std::string& host,
                            unsigned port,
                            std::chrono::milliseconds limit) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0)
    return fail(Errc::unreachable,
                fmt::format("cannot resolve `{}`: {}", host, ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  int last = 0;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    UniqueFd fd(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd.valid() && connect_within(fd.get(), one->ai_addr, one->ai_addrlen, limit)) {
      const int on = 1;
      ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return fd;
    }
    last = errno;
  }
  return fail(Errc::unreachable,
              fmt::format("cannot connect to {} port {}: {}", host, port, std::strerror(last)));
}

Result<UniqueFd> connect_to_any(const std::vector<std::string>& hosts,
                                unsigned port,
                                std::chrono::milliseconds limit) {
  Result<UniqueFd> last = fail(Errc::unreachable, "no address to connect to");
  for (const std::string& host : hosts) {
    last = connect_to(host, port, limit);
    if (last) break;
  }
  return last;
}

std::string local_address(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, as_sockaddr(&address), &length) != 0) return {};
  return numeric(as_sockaddr(&address), length);
}

std::string peer_address(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getpeername(fd, as_sockaddr(&address), &length) != 0) return {};
  return numeric(as_sockaddr(&address), length);
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
    const std::string text = numeric(one->ifa_addr, length);
    if (text.empty() || text.rfind("fe80:", 0) == 0) continue;
    found.push_back({one->ifa_name, text, (one->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return found;
}

}  // namespace

std::vector<std::string> interface_addresses() {
  std::vector<InterfaceAddress> found = usable_addresses();
  std::stable_partition(found.begin(), found.end(), [](const auto& one) { return !one.loopback; });
  std::vector<std::string> addresses;
  for (InterfaceAddress& one : found) addresses.push_back(std::move(one.address));
  return addresses;
}

std::string interface_of(const std::string& address) {
  // All of 127.0.0.0/8 is the loopback interface's, though it lists one address only.
  const std::string listed = address.rfind("127.", 0) == 0 ? "127.0.0.1" : address;
  for (const InterfaceAddress& one : usable_addresses())
    if (one.address == listed) return one.interface;
  return {};
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace dts::launch
