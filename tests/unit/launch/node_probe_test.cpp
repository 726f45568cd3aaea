// SPDX-License-Identifier: Apache-2.0
// What a probe of a node's port shows: a daemon that answers, one that sleeps, none, no host.
#include "core/launch/health/node_probe.hpp"

#include "core/base/net/net.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <thread>

namespace {

using namespace dts;
using namespace dts::launch;
using std::chrono::milliseconds;

constexpr milliseconds k_limit{500};

// Accepts one connection, reads to its end and closes it, as any server does with such a client.
class Daemon {
 public:
  Daemon()
      : listener_(listen_on(0).value()), port_(local_port(listener_.get())), thread_([this] {
          UniqueFd guest;
          while (!guest.valid()) guest = accept_from(listener_.get());
          char byte = 0;
          while (::recv(guest.get(), &byte, 1, 0) > 0) {
          }
        }) {}

  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  ~Daemon() { thread_.join(); }

  [[nodiscard]] unsigned port() const { return port_; }

 private:
  UniqueFd listener_;
  unsigned port_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("each node is seen as it is, all in one probe, in order") {
  const Daemon daemon;
  const UniqueFd asleep = listen_on(0).value();
  const UniqueFd gone = listen_on(0).value();
  const unsigned free_port = local_port(gone.get());
  ::shutdown(gone.get(), SHUT_RDWR);  // bound, so that no other process gets it, but not listening
  const auto sights = probe_nodes({{"mute", "127.0.0.1", local_port(asleep.get())},
                                   {"answers", "127.0.0.1", daemon.port()},
                                   {"refused", "127.0.0.1", free_port},
                                   {"unknown", "", 6818},
                                   {"no port", "127.0.0.1", 0},
                                   {"no name", "nowhere.invalid", 6818}},
                                  milliseconds(2000));
  REQUIRE(sights.size() == 6);
  CHECK(sights[0].node == "mute");
  CHECK(sights[0].reach == Reach::mute);
  CHECK(sights[1].reach == Reach::answers);
  CHECK(sights[2].reach == Reach::refused);
  CHECK(sights[3].reach == Reach::unknown);
  CHECK(sights[4].reach == Reach::unknown);
  CHECK(sights[5].reach == Reach::unknown);
  CHECK(sights[5].detail.find("cannot resolve `nowhere.invalid`") == 0);
}

TEST_CASE("a host whose kernel does not answer counts as unreachable after exactly the limit") {
  // A full accept queue: the kernel drops further connections, as the network does for a dead host.
  UniqueFd full(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage any{};
  any.ss_family = AF_INET;
  REQUIRE(::bind(full.get(), reinterpret_cast<sockaddr*>(&any), 16) == 0);
  REQUIRE(::listen(full.get(), 0) == 0);
  const unsigned port = local_port(full.get());
  std::vector<UniqueFd> guests;
  while (auto guest = connect_to("127.0.0.1", port, milliseconds(300))) {
    guests.push_back(std::move(*guest));
    REQUIRE(guests.size() < 100);
  }
  const auto began = std::chrono::steady_clock::now();
  const auto sights = probe_nodes({{"n1", "127.0.0.1", port}}, k_limit);
  CHECK(std::chrono::steady_clock::now() - began >= k_limit);
  REQUIRE(sights.size() == 1);
  CHECK(sights[0].reach == Reach::unreachable);
  CHECK(sights[0].detail == "127.0.0.1 port " + std::to_string(port) + ": no answer");
}

TEST_CASE("no nodes to probe") {
  CHECK(probe_nodes({}, k_limit).empty());
}
