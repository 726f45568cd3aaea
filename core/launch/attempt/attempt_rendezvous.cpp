// SPDX-License-Identifier: Apache-2.0
// Once every rank has said hello: where they are placed, where they meet, and how each is reached.
#include "core/base/net/net.hpp"
#include "core/base/text/number_list.hpp"
#include "core/launch/attempt/attempt.hpp"
#include "core/topo/json.hpp"
#include "core/topo/restrict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::launch {

void Attempt::begin_rendezvous_if_all_came(Time now) {
  if (ranks_.size() < settings_.plan.world_size || late_ > 0) return;
  if (doubt_) return end_in_doubt(now);
  std::vector<plan::RankHello> hellos;
  for (const auto& [rank, state] : ranks_) hellos.push_back(state.hello.rank);
  if (const auto verified = plan::verify_ranks(hellos, settings_.plan); !verified)
    return end(run::Cause::wrong_ranks, 3, verified.error().message, now);
  for (const auto& [rank, state] : ranks_)
    if (state.hello.worker_port == 0)
      return end(run::Cause::launch_failed,
                 1,
                 where(rank) + ": none of the ports tried for a server of its own is free",
                 now);
  std::map<std::string, topo::NodeTopology> topologies;
  if (settings_.topology) topologies[settings_.agent_node] = *settings_.topology;
  for (const auto& [rank, state] : ranks_) {
    if (!state.hello.topology) continue;
    auto topology = topo::from_json(state.topology);
    if (!topology)
      return end(run::Cause::launch_failed, 1, where(rank) + ": " + topology.error().message, now);
    topologies[state.hello.rank.node] = std::move(*topology);
  }
  for (const auto& [rank, state] : ranks_)
    if (topologies.count(state.hello.rank.node) == 0)
      return end(run::Cause::wrong_ranks,
                 3,
                 fmt::format("no rank on {} has local rank 0", state.hello.rank.node),
                 now);
  for (const auto& [node, topology] : topologies) pci_gpus_[node] = topology.gpus.size();
  for (auto& [node, topology] : topologies) hold_to_allotment(node, topology);
  auto placed = plan::place_ranks(hellos, settings_.plan, topologies);
  if (!placed) return end(run::Cause::wrong_ranks, 3, placed.error().message, now);
  placements_ = std::move(placed->ranks);
  notes_.insert(notes_.end(), placed->notes.begin(), placed->notes.end());
  rendezvous_.hcas = plan::shared_hcas(topologies);
  phase_ = Phase::listening;
  phase_limit_ = now + k_rendezvous_limit;
  send(0, Listen{settings_.ports, nonce()});
}

// Where Slurm leaves it to its jobs to keep to their processors (TaskPlugin=task/none), two that
// share a node would else both take all of it.
void Attempt::hold_to_allotment(const std::string& node, topo::NodeTopology& topology) {
  const auto found = allotments_.find(node);
  if (found == allotments_.end()) return;
  const std::vector<unsigned> pus = plan::allotted_pus(topology, found->second);
  if (pus.empty()) return;
  notes_.push_back(
      fmt::format("binding: {}: only processors {}, which the scheduler gave to the job "
                  "without holding it to them",
                  node,
                  fold_numbers(pus)));
  topology = topo::restrict_to(std::move(topology), pus);
}

void Attempt::on(unsigned rank, const Listening& message, Time now) {
  if (phase_ != Phase::listening || rank != 0) return;
  if (message.port == 0)
    return end(
        run::Cause::launch_failed,
        1,
        fmt::format(
            "{}: none of {} ports tried for MASTER_PORT is free", where(0), settings_.ports.size()),
        now);
  rendezvous_.master_port = message.port;
  if (!message.note.empty())
    notes_.push_back(fmt::format("MASTER_PORT {}: {}", message.port, message.note));
  begin_probes();
  if (probers_.empty()) {
    meet_at("127.0.0.1", {});  // a world of one talks to itself
    start_when_checked(now);
  }
}

std::vector<std::string> Attempt::address_candidates() const {
  const Rank& first = ranks_.at(0);
  std::vector<std::string> candidates;
  const auto add = [&](const std::string& address) {
    if (!address.empty() &&
        std::find(candidates.begin(), candidates.end(), address) == candidates.end())
      candidates.push_back(address);
  };
  const auto named = node_addresses_.find(first.hello.rank.node);
  if (named != node_addresses_.end()) add(named->second);
  // Where rank 0 shares the agent's node, its peers have already shown which address they reach.
  if (first.hello.rank.node == settings_.agent_node)
    for (const unsigned prober : probers_) add(ranks_.at(prober).reached_at);
  for (const std::string& address : first.hello.addresses) add(address);
  return candidates;
}

void Attempt::begin_probes() {
  // One rank of every other node; on a single node, any other rank.
  std::map<std::string, unsigned> representative;
  for (const auto& [rank, state] : ranks_)
    if (state.hello.rank.node != ranks_.at(0).hello.rank.node)
      representative.emplace(state.hello.rank.node, rank);
  if (representative.empty() && ranks_.size() > 1)
    representative.emplace("", std::next(ranks_.begin())->first);
  for (const auto& [node, rank] : representative) probers_.push_back(rank);
  std::sort(probers_.begin(), probers_.end());
  phase_ = Phase::probing;
  const Probe probe{address_candidates(), rendezvous_.master_port, nonce()};
  for (const unsigned rank : probers_) send(rank, probe);
}

std::vector<Route> Attempt::routes_to(const std::string& address) const {
  std::vector<Route> routes;
  for (const unsigned prober : probers_) {
    const std::vector<Route>& its = reached_.at(prober);
    const auto route = std::find_if(
        its.begin(), its.end(), [&](const Route& one) { return one.address == address; });
    if (route == its.end()) return {};
    routes.push_back(*route);
  }
  return routes;
}

void Attempt::meet_at(const std::string& address, const std::vector<Route>& routes) {
  rendezvous_.master_addr = address;
  // Where the scheduler's address of rank 0's node has proved right, its others are taken too;
  // otherwise a node is reached where its own connection came from, which is on the same network.
  const auto scheduled = [&](unsigned rank) {
    const auto found = node_addresses_.find(ranks_.at(rank).hello.rank.node);
    return found == node_addresses_.end() ? std::string() : found->second;
  };
  std::map<unsigned, std::string> hosts;  // by node rank
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const std::string named = scheduled(0) == address ? scheduled(probers_[i]) : std::string();
    hosts[placements_.at(probers_[i]).node_rank] = named.empty() ? routes[i].from : named;
  }
  hosts[placements_.at(0).node_rank] = address;
  for (auto& [node, host] : hosts) rendezvous_.hosts.push_back(std::move(host));
  for (const auto& [rank, state] : ranks_)
    rendezvous_.worker_ports.push_back(state.hello.worker_port);
  const bool one_name = std::all_of(routes.begin(), routes.end(), [&](const Route& route) {
    return route.interface == routes.front().interface;
  });
  if (!routes.empty() && one_name) rendezvous_.interface = routes.front().interface;
}

void Attempt::on(unsigned rank, const Reached& message, Time now) {
  if (phase_ != Phase::probing || !std::binary_search(probers_.begin(), probers_.end(), rank))
    return;
  reached_[rank] = message.routes;
  if (reached_.size() < probers_.size()) return;
  const std::vector<std::string> candidates = address_candidates();
  for (const std::string& candidate : candidates) {
    const std::vector<Route> routes = routes_to(candidate);
    if (routes.empty()) continue;
    meet_at(candidate, routes);
    return start_when_checked(now);
  }
  const std::vector<std::string>& own = ranks_.at(0).hello.addresses;
  const bool alone = std::all_of(own.begin(), own.end(), is_loopback);
  end(run::Cause::launch_failed,
      1,
      fmt::format("no address of {} is reached by every other node on port {}: tried {}{}",
                  ranks_.at(0).hello.rank.node,
                  rendezvous_.master_port,
                  fmt::join(candidates, ", "),
                  alone ? "; its interfaces have loopback addresses only" : ""),
      now);
}

}  // namespace dts::launch
