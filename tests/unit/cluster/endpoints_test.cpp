// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/layout/endpoints.hpp"

#include "core/base/files/unique_fd.hpp"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <set>

using namespace dts::cluster;

TEST_CASE("controller and nodes have consecutive addresses and ports") {
  const Endpoints endpoints{5, 6, 21000};
  CHECK(endpoints.controller_address() == "127.5.6.1");
  CHECK(endpoints.node_address(0) == "127.5.6.2");
  CHECK(endpoints.node_address(63) == "127.5.6.65");
  CHECK(endpoints.node_port(0) == 21001);
}

TEST_CASE("proposals depend on the cluster and the attempt and on nothing else") {
  CHECK(propose_endpoints("/a", 0) == propose_endpoints("/a", 0));
  CHECK_FALSE(propose_endpoints("/a", 0) == propose_endpoints("/b", 0));
  CHECK_FALSE(propose_endpoints("/a", 0) == propose_endpoints("/a", 1));
}

TEST_CASE("no proposal uses 127.0, an ephemeral port, or half of another's block") {
  std::set<unsigned> ports;
  for (unsigned attempt = 0; attempt < 5000; ++attempt) {
    const Endpoints endpoints = propose_endpoints("/home/ada/cluster", attempt);
    REQUIRE(endpoints.a >= 1);
    REQUIRE(endpoints.a <= 254);
    REQUIRE(endpoints.b <= 254);
    REQUIRE(endpoints.port >= 20000);
    REQUIRE(endpoints.node_port(63) < 32768);
    REQUIRE((endpoints.port - 20000) % 66 == 0);
    ports.insert(endpoints.port);
  }
  CHECK(ports.size() == (32768 - 20000) / 66);  // all blocks are used
}

TEST_CASE("a low ephemeral range leaves ports to propose all the same") {
  const Endpoints endpoints = propose_endpoints("/a", 0, 1024);
  CHECK(endpoints.port >= 20000);
}

TEST_CASE("endpoints with a port that somebody listens on are not free") {
  Endpoints endpoints = propose_endpoints("endpoints_test", 0);
  for (unsigned attempt = 1; !are_free(endpoints, 2); ++attempt) {
    REQUIRE(attempt < 100);
    endpoints = propose_endpoints("endpoints_test", attempt);
  }
  const dts::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;  // a connection that ended a moment ago holds a port for others for a minute
  REQUIRE(::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(endpoints.node_port(1));
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0);
  REQUIRE(::listen(fd.get(), 1) == 0);
  CHECK_FALSE(are_free(endpoints, 2));
  CHECK(are_free(endpoints, 1));  // a smaller cluster does not need that port
}
