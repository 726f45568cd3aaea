// SPDX-License-Identifier: Apache-2.0
// Which InfiniBand or RoCE ports NCCL is told to use.
#include "core/plan/fabric.hpp"

#include "core/base/text.hpp"
#include "core/plan/plan.hpp"

#include <algorithm>

namespace dts::plan {
namespace {

const topo::FabricPort* find_same(const std::vector<topo::FabricPort>& ports,
                                  const topo::FabricPort& one) {
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const topo::FabricPort& port) {
    return port.hca == one.hca && port.port == one.port && port.infiniband == one.infiniband;
  });
  return found == ports.end() ? nullptr : &*found;
}

// The ports of the first node that all have, each at the speed of its slowest namesake.
std::vector<topo::FabricPort> ports_of_all(const std::map<std::string, topo::NodeTopology>& nodes) {
  std::vector<topo::FabricPort> shared = nodes.begin()->second.fabric;
  for (const auto& [name, node] : nodes)
    std::erase_if(shared, [&fabric = node.fabric](topo::FabricPort& port) {
      const topo::FabricPort* same = find_same(fabric, port);
      if (same != nullptr) port.gbps = std::min(port.gbps, same->gbps);
      return same == nullptr;
    });
  return shared;
}

}  // namespace

std::string shared_hcas(const std::map<std::string, topo::NodeTopology>& nodes) {
  if (nodes.size() < 2) return {};
  std::vector<topo::FabricPort> ports = ports_of_all(nodes);
  if (ports.empty()) return {};
  const auto best =
      worth(*std::min_element(ports.begin(), ports.end(), [](const auto& a, const auto& b) {
        return worth(a) < worth(b);
      }));
  std::erase_if(ports, [&](const topo::FabricPort& port) { return worth(port) != best; });
  std::vector<std::string> words;
  for (const topo::FabricPort& port : ports)
    words.push_back(port.hca + ":" + std::to_string(port.port));
  return join(words, ",");
}

}  // namespace dts::plan
