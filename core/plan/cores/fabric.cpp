// SPDX-License-Identifier: Apache-2.0
#include "core/plan/cores/fabric.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace dts::plan {
namespace {

using Indices = std::vector<std::size_t>;

// Assumed for an adapter for computing that does not report its speed.
constexpr unsigned k_least_gbps = 100;

// Slower adapters are not for computing. Those of HGX B200 and B300 that manage the NVLink switches
// are ConnectX-7 with active InfiniBand ports, on two lanes of PCI Express 3: 16 Gb/s.
constexpr unsigned k_too_slow_gbps = 20;

// Some carriers of one network, and their bandwidth.
struct Choice {
  Indices carriers;
  std::uint64_t total = 0;  // Gb/s together, each at the speed of the slowest
  unsigned slowest = 0;
};

Choice choose(const std::vector<Carrier>& all, const Indices& of_network, unsigned slowest) {
  Choice choice{{}, 0, slowest};
  std::map<std::string, std::pair<std::uint64_t, unsigned>> cards;  // its traffic and maximum
  for (const std::size_t i : of_network) {
    if (all[i].gbps < slowest) continue;
    choice.carriers.push_back(i);
    auto& [sum, most] = cards[all[i].card];
    sum += slowest;
    most = all[i].pci_gbps;
  }
  for (const auto& [card, carried] : cards) {
    const auto& [sum, most] = carried;
    choice.total += most > 0 ? std::min<std::uint64_t>(sum, most) : sum;
  }
  return choice;
}

Choice best_of(const std::vector<Carrier>& all, const Indices& of_network) {
  std::set<unsigned, std::greater<>> speeds;
  for (const std::size_t i : of_network) speeds.insert(all[i].gbps);
  Choice best;
  for (const unsigned speed : speeds) {
    if (2 * std::uint64_t{speed} < *speeds.begin()) break;
    Choice choice = choose(all, of_network, speed);
    if (best.carriers.empty() || choice.total > best.total) best = std::move(choice);
  }
  return best;
}

}  // namespace

std::vector<std::size_t> best_network(std::vector<Carrier> carriers) {
  const auto is_for_computing = [](const Carrier& one) {
    return one.network == topo::Network::ethernet || one.gbps >= k_too_slow_gbps;
  };
  for (Carrier& carrier : carriers)
    if (carrier.gbps == 0 && carrier.network != topo::Network::ethernet)
      carrier.gbps = k_least_gbps;
  const bool any_known = std::any_of(carriers.begin(), carriers.end(), [&](const Carrier& one) {
    return one.gbps > 0 && is_for_computing(one);
  });
  std::map<topo::Network, Indices> networks;
  for (std::size_t i = 0; i < carriers.size(); ++i)
    if (is_for_computing(carriers[i]) && (carriers[i].gbps > 0 || !any_known))
      networks[carriers[i].network].push_back(i);
  Choice best;
  std::tuple<std::uint64_t, unsigned> worth;
  for (const auto& [network, indices] : networks) {  // in a tie, the first one wins
    Choice choice = best_of(carriers, indices);
    const std::uint64_t weight = network == topo::Network::ethernet ? 1 : 2;
    const std::tuple its_worth(weight * choice.total, choice.slowest);
    if (!best.carriers.empty() && its_worth <= worth) continue;
    best = std::move(choice);
    worth = its_worth;
  }
  return best.carriers;
}

unsigned speed_of(const topo::Nic& nic) {
  if (nic.gbps == 0 || nic.pci_gbps == 0) return std::max(nic.gbps, nic.pci_gbps);
  return std::min(nic.gbps, nic.pci_gbps);
}

std::string card_of(const topo::Nic& nic) {
  return nic.pci.empty() ? nic.name : nic.pci.substr(0, nic.pci.rfind('.'));
}

std::vector<std::size_t> ports_of(const topo::NodeTopology& node, const topo::Nic& nic) {
  std::vector<std::size_t> ports;
  unsigned fastest = 0;
  for (std::size_t i = 0; i < node.fabric.size(); ++i) {
    const topo::FabricPort& port = node.fabric[i];
    if (port.hca != nic.name || port.infiniband == (nic.network == topo::Network::ethernet))
      continue;
    ports.push_back(i);
    fastest = std::max(fastest, port.gbps);
  }
  std::erase_if(ports, [&](std::size_t port) { return node.fabric[port].gbps < fastest; });
  return ports;
}

const char* to_string(topo::Network network) {
  constexpr std::array k_names{"InfiniBand", "Omni-Path", "Slingshot", "EFA", "Ethernet"};
  return k_names.at(static_cast<std::size_t>(network));
}

}  // namespace dts::plan
