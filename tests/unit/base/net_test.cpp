// SPDX-License-Identifier: Apache-2.0
// Ports that are taken, peers that are reached or not, addresses as text.
#include "core/base/net/net.hpp"

#include "core/base/files/files.hpp"
#include "core/base/net/interfaces.hpp"
#include "tests/support/temporary_folder.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace dts;
using std::chrono::milliseconds;

constexpr milliseconds k_limit{2000};

bool readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, 2000) == 1;
}

// A listener on a port of its own.
struct Server {
  UniqueFd listener = listen_on(0).value();
  unsigned port = local_port(listener.get());
};

// A listener on one IPv4 address only, with a queue of `backlog`.
UniqueFd listen_at(const char* address, unsigned port, int backlog) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  REQUIRE(::inet_pton(AF_INET, address, &at.sin_addr) == 1);
  REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  REQUIRE(::listen(fd.get(), backlog) == 0);
  return fd;
}

bool resolves(const char* host) {
  addrinfo* found = nullptr;
  if (::getaddrinfo(host, nullptr, nullptr, &found) != 0) return false;
  ::freeaddrinfo(found);
  return true;
}

TEST_CASE("the speed of a link is that of an adapter or a bond, where the kernel knows it") {
  const tests::TemporaryFolder folder;

  const struct {
    const char* kind;   // what marks an adapter
    const char* speed;  // the file's text; null: there is none
    unsigned mbps;
  } table[] = {{"device", "25000\n", 25'000},
               {"bonding", "200000\n", 200'000},
               {"device", "-1\n", 0},
               {"device", "", 0},
               {"device", nullptr, 0},
               {"device", "99999999999999999999\n", 0},
               {"bridge", "10000\n", 0}};

  for (const auto& row : table) {
    const std::string own = folder.file("eth0");
    REQUIRE(remove_all(own));
    REQUIRE(make_folders(own + "/" + row.kind));
    if (row.speed != nullptr) REQUIRE(create_file(own + "/speed", row.speed));
    CHECK(link_speed("eth0", folder.path) == row.mbps);
  }
  CHECK(link_speed("none", folder.path) == 0);
}

}  // namespace

TEST_CASE("a port that somebody listens on is not given twice") {
  const Server server;
  REQUIRE(server.port != 0);
  const auto again = listen_on(server.port);
  REQUIRE_FALSE(again);
  CHECK(again.error().code == Errc::io);
  CHECK(again.error().message.find(std::to_string(server.port)) != std::string::npos);
}

TEST_CASE("a port is free again as soon as it is let go, for the program that follows") {
  Server server;
  const UniqueFd client = connect_to("127.0.0.1", server.port, k_limit).value();
  REQUIRE(readable(server.listener.get()));
  {
    const UniqueFd accepted = accept_from(server.listener.get());
  }  // we close first: TIME_WAIT is ours
  server.listener.reset();
  CHECK(listen_on(server.port));
}

TEST_CASE("a port is held for one rank, also while its program has not bound it yet") {
  const Server taken;
  const unsigned free = [] { return Server().port; }();
  const unsigned next = [] { return Server().port; }();
  HeldPort first = hold_first_free_port({taken.port, free});
  CHECK(first.port == free);
  first.socket.reset();
  CHECK(listen_on(free));  // by the program that it is for
  CHECK(hold_first_free_port({free, next}).port == next);
  CHECK(hold_first_free_port({taken.port, free}).port == 0);
  first.claim.reset();
  CHECK(hold_first_free_port({free, next}).port == free);
}

TEST_CASE("accepting does not wait where nobody has called") {
  const Server server;
  CHECK_FALSE(accept_from(server.listener.get()).valid());
}

TEST_CASE("a peer is reached by address and by name, and both ends know the addresses") {
  const Server server;
  for (const char* host : {"127.0.0.1", "localhost"}) {
    CAPTURE(host);
    if (!resolves(host)) {
      MESSAGE("skipped: this machine does not know the name " << host << " (no /etc/hosts)");
      continue;
    }
    const auto client = connect_to(host, server.port, k_limit);
    REQUIRE(client);
    REQUIRE(readable(server.listener.get()));
    const UniqueFd accepted = accept_from(server.listener.get());
    REQUIRE(accepted.valid());
    CHECK(local_address(accepted.get()) == peer_address(client->get()));
    CHECK(peer_address(accepted.get()) == local_address(client->get()));
    CHECK(local_address(accepted.get()).find("::ffff:") == std::string::npos);
  }
}

TEST_CASE("the nonce that a listener answers with proves that it is the right one") {
  const Server right, wrong;
  const std::string nonce = "0123456789abcdef";
  for (const Server* server : {&right, &wrong}) {
    const UniqueFd client = connect_to("127.0.0.1", server->port, k_limit).value();
    REQUIRE(readable(server->listener.get()));
    const UniqueFd accepted = accept_from(server->listener.get());
    const std::string answer = server == &right ? nonce : "fedcba9876543210";
    REQUIRE(::send(accepted.get(), answer.data(), answer.size(), 0) ==
            static_cast<ssize_t>(answer.size()));
    std::string got(nonce.size(), '\0');
    REQUIRE(::recv(client.get(), got.data(), got.size(), MSG_WAITALL) ==
            static_cast<ssize_t>(got.size()));
    CHECK((got == nonce) == (server == &right));
  }
}

TEST_CASE("a port without a listener is unreachable, with the address and the port") {
  unsigned port = 0;
  {
    const Server server;
    port = server.port;
  }
  const auto closed = connect_to("127.0.0.1", port, k_limit);
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == Errc::unreachable);
  CHECK(closed.error().message.find("127.0.0.1 port " + std::to_string(port)) != std::string::npos);
  const auto nameless = connect_to("no-such-host.invalid", 1, k_limit);
  REQUIRE_FALSE(nameless);
  CHECK(nameless.error().code == Errc::unreachable);
}

TEST_CASE("a loopback address gets its turn after the others' limit, not before") {
  // A full queue of connections: the kernel drops the next, as the network does for a dead host.
  const UniqueFd full = listen_at("127.0.0.1", 0, 0);
  const unsigned port = local_port(full.get());
  std::vector<UniqueFd> guests;
  while (auto guest = connect_to("127.0.0.1", port, milliseconds(300))) {
    guests.push_back(std::move(*guest));
    REQUIRE(guests.size() < 100);
  }
  const UniqueFd other = listen_at("127.0.0.2", port, 10);
  const auto began = std::chrono::steady_clock::now();
  const auto reached = connect_to_any({"127.0.0.1", "127.0.0.2"}, port, milliseconds(700));
  CHECK(std::chrono::steady_clock::now() - began >= milliseconds(700));
  REQUIRE(reached);
  CHECK(peer_address(reached->get()) == "127.0.0.2");
}

TEST_CASE("of several addresses the first that answers is used") {
  const Server server;
  CHECK(connect_to_any({"no-such-host.invalid", "127.0.0.1"}, server.port, k_limit));
  CHECK_FALSE(connect_to_any({}, server.port, k_limit));
  CHECK_FALSE(connect_to_any({"no-such-host.invalid"}, server.port, k_limit));
}

TEST_CASE("this machine's addresses are text that leads back to it, loopback last") {
  std::vector<std::string> addresses;
  for (const HostAddress& one : interface_addresses()) addresses.push_back(one.address);
  REQUIRE_FALSE(addresses.empty());
  const auto is_loopback = [](const std::string& address) {
    return address == "::1" || address.rfind("127.", 0) == 0;
  };
  const auto first = std::find_if(addresses.begin(), addresses.end(), is_loopback);
  CHECK(std::all_of(first, addresses.end(), is_loopback));
  const Server server;
  CHECK(connect_to_any(addresses, server.port, k_limit));
  CHECK_FALSE(host_name().empty());
}

TEST_CASE("an address is known by its interface") {
  CHECK(interface_of("127.0.0.1") == "lo");
  CHECK(interface_of("127.20.30.40") == "lo");
  for (const auto& [address, interface] : interface_addresses())
    CHECK(::if_nametoindex(interface_of(address).c_str()) != 0);
  CHECK(interface_of("203.0.113.1").empty());  // for documentation only (RFC 5737)
  CHECK(interface_of("").empty());
}
