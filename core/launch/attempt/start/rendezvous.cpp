// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/start/rendezvous.hpp"

#include "core/base/hash.hpp"
#include "core/base/net/net.hpp"
#include "core/launch/attempt/start/foreign_address.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_rendezvous_limit{20};

// The addresses of one host, with the links that they belong to.
class LinksOfHost {
 public:
  // `scheduled`: the scheduler's address of the host; may be empty.
  LinksOfHost(const Hello& hello, std::string scheduled)
      : hello_(hello), scheduled_(std::move(scheduled)) {
    for (const Link& link : hello.links)
      if (link.mbps > 0) slowest_ = std::min(slowest_.value_or(link.mbps), link.mbps);
  }

  // The interface of an address; empty: not known.
  [[nodiscard]] std::string interface_of(const std::string& address) const {
    const Link* link = find(address);
    return link == nullptr ? std::string() : link->interface;
  }

  // An address whose speed is not known, for instance a name, counts as on the slowest adapter, so
  // only addresses that are known to be faster precede it. A scheduler that knows nodes by loopback
  // addresses runs all of them on this machine.
  [[nodiscard]] unsigned speed_of(const std::string& address) const {
    if (is_loopback(address))
      return address == scheduled_ ? std::numeric_limits<unsigned>::max() : 0;
    const Link* link = find(address);
    return link != nullptr && link->mbps > 0 ? link->mbps : slowest_.value_or(1);
  }

 private:
  [[nodiscard]] const Link* find(const std::string& address) const {
    for (std::size_t i = 0; i < hello_.links.size(); ++i)
      if (hello_.addresses[i] == address) return &hello_.links[i];
    return nullptr;
  }

  const Hello& hello_;
  std::string scheduled_;
  std::optional<unsigned> slowest_;
};

// "eth0, ib0"
std::string interfaces_of(const Hello& hello) {
  std::vector<std::string> names;
  for (const Link& link : hello.links)
    if (std::find(names.begin(), names.end(), link.interface) == names.end())
      names.push_back(link.interface);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string Rendezvous::nonce() const {
  return to_hex(hash64(settings_.token));
}

void Rendezvous::begin(Time now) {
  step_ = Step::listening;
  limit_ = now + k_rendezvous_limit;
  result_.hcas = places_.hcas();
  ranks_.send(0, Listen{settings_.ports, nonce()});
}

void Rendezvous::on_listening(unsigned rank, const Listening& message, Time now) {
  if (step_ != Step::listening || rank != 0) return;
  if (message.port == 0)
    return ending_.end({run::Cause::launch_failed,
                        1,
                        fmt::format("{}: none of {} ports tried for MASTER_PORT is free",
                                    ranks_.where(0),
                                    settings_.ports.size())},
                       now);
  result_.master_port = message.port;
  if (!message.note.empty())
    news_.notes.push_back(fmt::format("MASTER_PORT {}: {}", message.port, message.note));
  choose_probers();
  if (probers_.empty()) return meet_at("127.0.0.1", {});  // only one rank
  begin_probes(now);
}

std::string Rendezvous::scheduled_address(unsigned rank) const {
  const auto found = node_addresses_.find(ranks_.at(rank).node());
  return found == node_addresses_.end() ? std::string() : found->second;
}

std::vector<std::string> Rendezvous::address_candidates() const {
  const RankState& first = ranks_.at(0);
  std::vector<std::string> candidates;
  const auto add = [&](const std::string& address) {
    if (!address.empty() &&
        std::find(candidates.begin(), candidates.end(), address) == candidates.end())
      candidates.push_back(address);
  };
  add(scheduled_address(0));
  // If rank 0 is on the agent's node, the addresses that its peers used to reach the agent work for
  // rank 0 as well.
  if (first.node() == settings_.agent_node)
    for (const unsigned prober : probers_) add(ranks_.at(prober).reached_at);
  for (const std::string& address : first.hello.addresses) add(address);
  const LinksOfHost links(first.hello, scheduled_address(0));
  if (const std::string& interface = settings_.spec.interface; !interface.empty())
    std::erase_if(candidates,
                  [&](const std::string& one) { return links.interface_of(one) != interface; });
  // The sort is stable: addresses of equal speed keep their order.
  std::stable_sort(candidates.begin(), candidates.end(), [&](const auto& one, const auto& other) {
    return links.speed_of(one) > links.speed_of(other);
  });
  return candidates;
}

// One rank of every other node, or on a single node any other rank.
void Rendezvous::choose_probers() {
  std::map<std::string, unsigned> representative;
  for (const auto& [rank, state] : ranks_)
    if (state.node() != ranks_.at(0).node()) representative.emplace(state.node(), rank);
  if (representative.empty() && ranks_.size() > 1)
    representative.emplace("", std::next(ranks_.begin())->first);
  for (const auto& [node, rank] : representative) probers_.push_back(rank);
  std::sort(probers_.begin(), probers_.end());
}

void Rendezvous::begin_probes(Time now) {
  step_ = Step::probing;
  const Probe probe{address_candidates(), result_.master_port, nonce()};
  if (probe.addresses.empty()) return end_without_interface(now);
  for (const unsigned rank : probers_) ranks_.send(rank, probe);
}

std::vector<Route> Rendezvous::routes_to(const std::string& address) const {
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

void Rendezvous::meet_at(const std::string& address, const std::vector<Route>& routes) {
  step_ = Step::settled;
  result_.master_addr = address;
  // If the scheduler's address works for rank 0's node, use its addresses for the other nodes, too.
  // Otherwise use the address from which the node's prober connected, on the same network.
  const bool as_scheduled = scheduled_address(0) == address;
  const auto node_rank = [&](unsigned rank) { return places_.placements().at(rank).node_rank; };
  std::map<unsigned, std::string> hosts;  // by node rank
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const std::string named = as_scheduled ? scheduled_address(probers_[i]) : std::string();
    hosts[node_rank(probers_[i])] = named.empty() ? routes[i].from : named;
  }
  hosts[node_rank(0)] = address;
  for (auto& [node, host] : hosts) result_.hosts.push_back(std::move(host));
  for (const auto& [rank, state] : ranks_) result_.worker_ports.push_back(state.hello.worker_port);
  const bool one_name = std::all_of(routes.begin(), routes.end(), [&](const Route& route) {
    return route.interface == routes.front().interface;
  });
  if (!routes.empty() && one_name) result_.interface = routes.front().interface;
  doubt_given_address();
}

void Rendezvous::doubt_given_address() {
  if (settings_.plan.nodes < 2) return;
  std::set<std::string> own(result_.hosts.begin(), result_.hosts.end());
  for (const auto& [rank, state] : ranks_) {
    for (const std::string& address : state.hello.addresses)
      if (!is_loopback(address)) own.insert(address);  // by which each node reaches only itself
    own.insert({state.node(), state.hello.host.substr(0, state.hello.host.find('.'))});
  }
  if (std::string words = foreign_address(settings_.plan.command, own); !words.empty())
    news_.events.push_back({.what = run::Warning{std::move(words)}});
}

void Rendezvous::on_reached(unsigned rank, const Reached& message, Time now) {
  if (step_ != Step::probing || !std::binary_search(probers_.begin(), probers_.end(), rank)) return;
  reached_[rank] = message.routes;
  if (reached_.size() < probers_.size()) return;
  const std::vector<std::string> candidates = address_candidates();
  for (const std::string& candidate : candidates)
    if (const std::vector<Route> routes = routes_to(candidate); !routes.empty())
      return meet_at(candidate, routes);
  end_unreached(candidates, now);
}

void Rendezvous::end_without_interface(Time now) {
  const RankState& first = ranks_.at(0);
  ending_.end({run::Cause::launch_failed,
               1,
               fmt::format("{} has no address on --interface {}; it has {}",
                           first.node(),
                           settings_.spec.interface,
                           interfaces_of(first.hello))},
              now);
}

void Rendezvous::end_unreached(const std::vector<std::string>& candidates, Time now) {
  const RankState& first = ranks_.at(0);
  const std::vector<std::string>& own = first.hello.addresses;
  const bool alone = std::all_of(own.begin(), own.end(), is_loopback);
  ending_.end({run::Cause::launch_failed,
               1,
               fmt::format("no address of {} is reached by every other node on port {}: tried {}{}",
                           first.node(),
                           result_.master_port,
                           fmt::join(candidates, ", "),
                           alone ? "; its interfaces have loopback addresses only" : "")},
              now);
}

void Rendezvous::on_tick(Time now) {
  if (now < limit_) return;
  ending_.end({run::Cause::launch_failed,
               1,
               fmt::format("no rendezvous within {} s", k_rendezvous_limit.count())},
              now);
}

}  // namespace dts::launch
