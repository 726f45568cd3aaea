// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/node_probe.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/wait.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;

// The probe of one address of one node.
struct Try {
  std::size_t node = 0;
  UniqueFd socket;
  bool connected = false;
};

// What an errno of connect(2) says about the other side. Other errors are problems of our own host.
Reach reach_of(int error) {
  switch (error) {
    case ECONNREFUSED:
    case ECONNRESET:
      return Reach::refused;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ETIMEDOUT:
      return Reach::unreachable;
    default:
      return Reach::unknown;
  }
}

class Probes {
 public:
  explicit Probes(const std::vector<NodeEndpoint>& nodes) : nodes_(nodes) {
    for (const NodeEndpoint& node : nodes) reaches_.push_back({node.node});
    for (std::size_t i = 0; i < nodes.size(); ++i) begin(i);
  }

  // Polls the tries until each is settled or `limit` has passed.
  void wait(std::chrono::milliseconds limit) {
    const auto until = Clock::now() + limit;
    while (!tries_.empty()) {
      if (Clock::now() >= until) return;
      std::vector<pollfd> waiting;
      for (const Try& one : tries_)
        waiting.push_back(
            {one.socket.get(), static_cast<short>(one.connected ? POLLIN : POLLOUT), 0});
      if (!wait_for_any(waiting, until)) return;
      for (std::size_t i = waiting.size(); i-- > 0;)
        if (waiting[i].revents != 0 && settled(tries_[i]))
          tries_.erase(tries_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // Nodes that are not settled have not answered.
  [[nodiscard]] std::vector<NodeReach> conclude() {
    for (const Try& one : tries_)
      if (one.connected)
        saw(one.node, Reach::mute);
      else
        saw_error(one.node, ETIMEDOUT);
    return std::move(reaches_);
  }

 private:
  void begin(std::size_t node) {
    const NodeEndpoint& endpoint = nodes_[node];
    if (endpoint.address.empty() || endpoint.port == 0) {
      reaches_[node].detail = "its address is not known";
      return;
    }
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(
        endpoint.address.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
    if (error != 0) {
      reaches_[node].detail =
          fmt::format("cannot resolve `{}`: {}", endpoint.address, ::gai_strerror(error));
      return;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      Try attempt{node,
                  UniqueFd(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
                  false};
      if (attempt.socket.valid() &&
          (::connect(attempt.socket.get(), one->ai_addr, one->ai_addrlen) == 0 ||
           errno == EINPROGRESS))
        tries_.push_back(std::move(attempt));
      else
        saw_error(node, errno);
    }
  }

  // True if nothing more can be learnt from `one`.
  bool settled(Try& one) {
    if (one.connected) {
      saw(one.node, Reach::answers);  // an end of file or a reset shows that the daemon reacted
      return true;
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(one.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      saw_error(one.node, error);
      return true;
    }
    one.connected = true;
    ::shutdown(one.socket.get(), SHUT_WR);
    return false;
  }

  void saw(std::size_t node, Reach reach) {
    NodeReach& node_reach = reaches_[node];
    if (reach < node_reach.reach) return;
    node_reach.reach = reach;
    node_reach.detail.clear();
  }

  void saw_error(std::size_t node, int error) {
    NodeReach& node_reach = reaches_[node];
    const Reach reach = reach_of(error);
    if (reach < node_reach.reach) return;
    node_reach.reach = reach;
    node_reach.detail = fmt::format("{} port {}: {}",
                                    nodes_[node].address,
                                    nodes_[node].port,
                                    error == ETIMEDOUT ? "no answer" : std::strerror(error));
  }

  const std::vector<NodeEndpoint>& nodes_;
  std::vector<NodeReach> reaches_;
  std::vector<Try> tries_;  // not settled yet
};

}  // namespace

std::vector<NodeReach> probe_nodes(const std::vector<NodeEndpoint>& nodes,
                                   std::chrono::milliseconds limit) {
  Probes probes(nodes);
  probes.wait(limit);
  return probes.conclude();
}

}  // namespace dts::launch
