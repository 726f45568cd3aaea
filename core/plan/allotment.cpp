// SPDX-License-Identifier: Apache-2.0
#include "core/plan/allotment.hpp"

#include <algorithm>

namespace dts::plan {

std::vector<unsigned> allotted_pus(const topo::NodeTopology& node, const Allotment& allotment) {
  std::vector<std::vector<unsigned>> threads, cores;  // hardware threads of each, in hwloc's order
  for (const topo::Core& core : node.cores) {
    cores.push_back(core.pus);
    for (const unsigned pu : core.pus) threads.push_back({pu});
  }
  const auto& counted = allotment.of == threads.size() ? threads : cores;
  const std::vector<unsigned>& cpus = allotment.cpus;
  if (!node.closed.empty() || allotment.of != counted.size() || cpus.empty() ||
      cpus.size() >= counted.size() || cpus.back() >= counted.size())
    return {};
  std::vector<unsigned> pus;
  for (const unsigned cpu : cpus) pus.insert(pus.end(), counted[cpu].begin(), counted[cpu].end());
  std::sort(pus.begin(), pus.end());
  return pus;
}

}  // namespace dts::plan
