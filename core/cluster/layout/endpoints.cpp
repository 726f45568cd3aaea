// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/layout/endpoints.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

namespace dts::cluster {
namespace {

// Ports of the largest cluster: a controller, 64 nodes and slurmdbd.
constexpr unsigned k_block = 66;
constexpr unsigned k_lowest_port = 20000;
// 690 blocks of ports below 65536 make 7 million; Slurm's MaxJobId is 67 million (slurm.conf(5)).
constexpr std::uint32_t k_jobs_of_a_cluster = 10'000;

// SO_REUSEADDR, as Slurm sets it: a port whose last connections linger in TIME_WAIT is free.
bool can_bind(const std::string& address, std::uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &where.sin_addr) != 1) return false;
  return fd.valid() &&
         ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0 &&
         ::listen(fd.get(), 1) == 0;
}

}  // namespace

std::string Endpoints::controller_address() const {
  return accounting ? "127.0.0.1" : fmt::format("127.{}.{}.1", a, b);
}

std::string Endpoints::node_address(unsigned node) const {
  return fmt::format("127.{}.{}.{}", a, b, 2 + node);
}

std::uint16_t Endpoints::accounting_port() const {
  return static_cast<std::uint16_t>(port + k_block - 1);
}

std::uint32_t Endpoints::first_job() const {
  const unsigned block = port < k_lowest_port ? 0 : (port - k_lowest_port) / k_block;
  return block * k_jobs_of_a_cluster + 1;
}

Endpoints propose_endpoints(std::string_view identity, unsigned attempt, unsigned ephemeral_low) {
  const std::uint64_t hash = hash64(identity.data(), identity.size(), attempt);
  const unsigned high = std::max(ephemeral_low, k_lowest_port + 2 * k_block);
  const unsigned blocks = (high - k_lowest_port) / k_block;
  Endpoints result;
  result.a = 1 + static_cast<unsigned>(hash % 254);
  result.b = static_cast<unsigned>((hash >> 16) % 255);
  result.port = static_cast<std::uint16_t>(k_lowest_port + (hash >> 32) % blocks * k_block);
  return result;
}

bool are_free(const Endpoints& endpoints, unsigned nodes) {
  if (!can_bind("0.0.0.0", endpoints.port) ||
      !can_bind(endpoints.controller_address(), endpoints.port))
    return false;
  if (!can_bind("0.0.0.0", endpoints.accounting_port()) ||
      !can_bind(endpoints.controller_address(), endpoints.accounting_port()))
    return false;
  for (unsigned node = 0; node < nodes; ++node)
    if (!can_bind("0.0.0.0", endpoints.node_port(node)) ||
        !can_bind(endpoints.node_address(node), endpoints.node_port(node)))
      return false;
  return true;
}

Result<void> check_resolvable(const Endpoints& endpoints) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  if (::getaddrinfo(endpoints.controller_address().c_str(), nullptr, &hints, &found) == 0) {
    ::freeaddrinfo(found);
    return {};
  }
  return fail(Errc::invalid,
              "Slurm does not work on a machine whose only IPv4 addresses are in 127/8",
              "give it one more, as root: ip addr add 192.0.2.1/32 dev lo (mpirun then needs "
              "OMPI_MCA_oob_tcp_if_include=lo and OMPI_MCA_btl_tcp_if_include=lo)");
}

}  // namespace dts::cluster
