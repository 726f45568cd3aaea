// SPDX-License-Identifier: Apache-2.0
#include "core/topo/restrict.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace dts::topo {

NodeTopology restrict_to(NodeTopology node, const std::vector<unsigned>& pus) {
  const std::set<unsigned> open(pus.begin(), pus.end());
  for (Core& core : node.cores) {
    const Core whole = core;
    std::erase_if(core.pus, [&](unsigned pu) { return !open.contains(pu); });
    if (core.pus.empty()) node.closed.push_back(whole);
  }
  std::erase_if(node.cores, [](const Core& core) { return core.pus.empty(); });
  std::sort(node.closed.begin(), node.closed.end(), [](const Core& a, const Core& b) {
    return std::tie(a.package, a.numa, a.l3, a.pus) < std::tie(b.package, b.numa, b.l3, b.pus);
  });
  return node;
}

}  // namespace dts::topo
