// SPDX-License-Identifier: Apache-2.0
// The InfiniBand or RoCE ports that NCCL uses (NCCL_IB_HCA).
#include "core/base/text/text.hpp"
#include "core/plan/cores/fabric.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "core/plan/plan.hpp"

#include <algorithm>

namespace dts::plan {
namespace {

using Nodes = std::map<std::string, topo::NodeTopology>;

const topo::FabricPort* find_same(const std::vector<topo::FabricPort>& ports,
                                  const topo::FabricPort& one) {
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const topo::FabricPort& port) {
    return port.hca == one.hca && port.port == one.port && port.infiniband == one.infiniband;
  });
  return found == ports.end() ? nullptr : &*found;
}

// The ports that all nodes have, each at the speed of the slowest port with that name; unknown if
// one speed is.
std::vector<topo::FabricPort> ports_of_all(const Nodes& nodes) {
  std::vector<topo::FabricPort> shared = nodes.begin()->second.fabric;
  for (const auto& [name, node] : nodes)
    std::erase_if(shared, [&fabric = node.fabric](topo::FabricPort& port) {
      const topo::FabricPort* same = find_same(fabric, port);
      if (same != nullptr) port.gbps = std::min(port.gbps, same->gbps);
      return same == nullptr;
    });
  return shared;
}

Carrier carrier_of(const topo::NodeTopology& node, const topo::FabricPort& port) {
  Carrier carrier{
      port.infiniband ? topo::Network::infiniband : topo::Network::ethernet, port.gbps, port.hca};
  for (const topo::Nic& nic : node.nics) {
    if (nic.name != port.hca) continue;
    carrier.card = card_of(nic);
    carrier.pci_gbps = nic.pci_gbps;
    if (port.infiniband && nic.network == topo::Network::omni_path) carrier.network = nic.network;
  }
  return carrier;
}

// NCCL uses Slingshot and EFA through a plug-in; InfiniBand or RoCE ports next to them serve other
// purposes.
bool is_reached_by_plugin(const topo::NodeTopology& node) {
  const std::vector<unsigned> nics = compute_nics(node);
  return std::any_of(nics.begin(), nics.end(), [&](unsigned nic) {
    return node.nics[nic].network == topo::Network::slingshot ||
           node.nics[nic].network == topo::Network::efa;
  });
}

}  // namespace

std::string shared_hcas(const Nodes& nodes) {
  if (nodes.size() < 2) return {};
  for (const auto& [name, node] : nodes)
    if (is_reached_by_plugin(node)) return {};
  const std::vector<topo::FabricPort> ports = ports_of_all(nodes);
  std::vector<Carrier> carriers;
  for (const topo::FabricPort& port : ports)
    carriers.push_back(carrier_of(nodes.begin()->second, port));
  std::vector<std::string> words;
  for (const std::size_t i : best_network(carriers))
    words.push_back(ports[i].hca + ":" + std::to_string(ports[i].port));
  return join(words, ",");
}

}  // namespace dts::plan
