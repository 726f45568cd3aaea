// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank_meeting.hpp"

#include "core/base/net/ephemeral_ports.hpp"
#include "core/base/net/interfaces.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/allocation.hpp"
#include "core/launch/launcher/identity.hpp"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/socket.h>

#include <chrono>
#include <future>

namespace dts::launch {
namespace {

constexpr unsigned k_port_candidates = 64;

// The route to the socket that rank 0 holds, if `address` leads there: rank 0 answers with the
// nonce and the name of the interface on which it was reached, then closes the connection.
std::optional<Route> route_to_rank0(const std::string& address,
                                    unsigned port,
                                    const std::string& nonce) {
  const auto fd = connect_to(address, port, std::chrono::milliseconds(1000));
  if (!fd) return std::nullopt;
  const timeval limit{1, 0};
  ::setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string answer(nonce.size() + IF_NAMESIZE, '\0');
  const ssize_t got = ::recv(fd->get(), answer.data(), answer.size(), MSG_WAITALL);
  if (got < static_cast<ssize_t>(nonce.size()) || answer.compare(0, nonce.size(), nonce) != 0)
    return std::nullopt;
  answer.resize(static_cast<std::size_t>(got));
  Route route{address, local_address(fd->get()), {}};
  const std::string interface = interface_of(route.from);
  if (answer.substr(nonce.size()) == interface) route.interface = interface;
  return route;
}

}  // namespace

HeldPort hold_worker_port(const std::string& run_directory, unsigned attempt, unsigned rank) {
  const auto [low, high] = ephemeral_ports();
  return hold_first_free_port(plan::master_port_candidates(
      fmt::format("{}/rank-{}", run_directory, rank), attempt, low, high, k_port_candidates));
}

HeldPort hold_master_port(const std::vector<unsigned>& ports, std::string& note) {
  constexpr const char* k_reserved = "SLURM_STEP_RESV_PORTS";
  const std::string reserved = getenv_lookup(k_reserved).value_or("");
  HeldPort held = hold_first_free_port(plan::parse_ports(reserved));
  if (held.port != 0) {
    note = fmt::format("one of {}={}, which Slurm reserves for this step", k_reserved, reserved);
    return held;
  }
  held = hold_first_free_port(ports);
  if (!reserved.empty()) note = fmt::format("none of {}={} is free; ", k_reserved, reserved);
  const auto [low, high] = ephemeral_ports();
  if (held.port >= low && held.port <= high)
    note += fmt::format(
        "it is in ip_local_port_range {}-{}, which leaves no other that is free: an outgoing "
        "connection can take it before the program does; ",
        low,
        high);
  if (!note.empty()) note.resize(note.size() - 2);
  return held;
}

void answer_probe(const HeldPort& rendezvous, const std::string& nonce) {
  const UniqueFd peer = accept_from(rendezvous.socket.get());
  if (!peer.valid()) return;
  // This cannot block: the answer is short, and the socket's buffer is empty.
  const std::string answer = nonce + interface_of(local_address(peer.get()));
  ::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
}

Reached follow(const Probe& probe) {
  std::vector<std::future<std::optional<Route>>> answers;
  answers.reserve(probe.addresses.size());
  for (const std::string& address : probe.addresses)
    answers.push_back(
        std::async(std::launch::async, route_to_rank0, address, probe.port, probe.nonce));
  Reached reached;
  for (auto& answer : answers)
    if (auto route = answer.get()) reached.routes.push_back(std::move(*route));
  return reached;
}

}  // namespace dts::launch
