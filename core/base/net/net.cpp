// SPDX-License-Identifier: Apache-2.0
#include "core/base/net/net.hpp"

#include "core/base/net/interfaces.hpp"
#include "core/base/os/wait.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

namespace dts {
namespace {

// The socket API types addresses by cast; these two keep the casts in one place.
sockaddr* as_sockaddr(sockaddr_storage* address) {
  return reinterpret_cast<sockaddr*>(address);
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

}  // namespace

Result<UniqueFd> listen_on(unsigned port) {
  auto both = listen_family(AF_INET6, port);
  if (both || errno == EADDRINUSE) return both;
  return listen_family(AF_INET, port);
}

namespace {

// Claims the port by a name in the kernel's table of Unix sockets, which has the same scope as the
// table of TCP ports (one network namespace); a killed rank leaves no file behind. False: the port
// is taken. If such sockets are forbidden, there is no claim, and the port's own socket must
// suffice.
bool claim_port(unsigned port, UniqueFd& claim) {
  claim.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!claim.valid()) return true;
  const std::string name = fmt::format("dtsubmit-port-{}", port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // leading NUL: no file
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ::bind(claim.get(), reinterpret_cast<sockaddr*>(&address), length) == 0 ||
         errno != EADDRINUSE;
}

}  // namespace

HeldPort hold_first_free_port(const std::vector<unsigned>& ports) {
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

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds k_head_start{250};  // before the next address is tried (RFC 8305, section 5)

// Concurrent connection attempts; the first to succeed wins.
class Race {
 public:
  explicit Race(unsigned port) : port_(port) {}

  // Starts connecting to each address of `host` in turn; true once there is a winner.
  bool enter(const std::string& host) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(host.c_str(), std::to_string(port_).c_str(), &hints, &found);
    if (error != 0) {
      why_ = fmt::format("cannot resolve `{}`: {}", host, ::gai_strerror(error));
      return false;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next)
      if (begin(host, *one) || wait(k_head_start)) return true;
    return false;
  }

  // True once there is a winner; false after `limit`, or when no attempt is left.
  bool wait(milliseconds limit) {
    if (winner_.valid()) return true;
    const auto until = Clock::now() + limit;
    while (!runners_.empty()) {
      std::vector<pollfd> waiting;
      for (const Runner& one : runners_) waiting.push_back({one.socket.get(), POLLOUT, 0});
      if (!wait_for_any(waiting, until)) return false;
      for (std::size_t i = waiting.size(); i-- > 0;)
        if (waiting[i].revents != 0 && arrived(i)) return true;
      if (Clock::now() >= until) return false;
    }
    return false;
  }

  Result<UniqueFd> result(milliseconds limit) {
    if (winner_.valid()) {
      const int on = 1;
      ::fcntl(winner_.get(), F_SETFL, ::fcntl(winner_.get(), F_GETFL) & ~O_NONBLOCK);
      ::setsockopt(winner_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return std::move(winner_);
    }
    for (const Runner& one : runners_)
      failed(one.host, fmt::format("no answer within {} ms", limit.count()));
    return fail(Errc::unreachable, why_);
  }

 private:
  struct Runner {
    std::string host;
    UniqueFd socket;
  };

  bool begin(const std::string& host, const addrinfo& address) {
    UniqueFd socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.valid()) {
      failed(host, std::strerror(errno));
    } else if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) {
      winner_ = std::move(socket);
    } else if (errno == EINPROGRESS) {
      runners_.push_back({host, std::move(socket)});
    } else {
      failed(host, std::strerror(errno));
    }
    return winner_.valid();
  }

  bool arrived(std::size_t i) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(runners_[i].socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0)
      winner_ = std::move(runners_[i].socket);
    else
      failed(runners_[i].host, std::strerror(error));
    runners_.erase(runners_.begin() + static_cast<std::ptrdiff_t>(i));
    return error == 0;
  }

  void failed(const std::string& host, const std::string& why) {
    why_ = fmt::format("cannot connect to {} port {}: {}", host, port_, why);
  }

  unsigned port_;
  std::vector<Runner> runners_;
  UniqueFd winner_;
  std::string why_ = "no address to connect to";
};

}  // namespace

Result<UniqueFd> connect_to(const std::string& host, unsigned port, milliseconds limit) {
  return connect_to_any({host}, port, limit);
}

Result<UniqueFd> connect_to_any(const std::vector<std::string>& hosts,
                                unsigned port,
                                milliseconds limit) {
  Race race(port);
  for (const std::string& host : hosts) {
    // A listener on a loopback address is on this host: it is tried only after all other addresses.
    if (is_loopback(host) && race.wait(limit)) break;
    if (race.enter(host)) break;
  }
  race.wait(limit);
  return race.result(limit);
}

bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

std::string local_address(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, as_sockaddr(&address), &length) != 0) return {};
  return numeric_address(as_sockaddr(&address), length);
}

std::string peer_address(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getpeername(fd, as_sockaddr(&address), &length) != 0) return {};
  return numeric_address(as_sockaddr(&address), length);
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace dts
