// SPDX-License-Identifier: Apache-2.0
#include "core/plan/cores/near_cores.hpp"

#include "core/topo/distance.hpp"

#include <algorithm>

namespace dts::plan {

NearCores::NearCores(const topo::NodeTopology& topology) : topology_(topology) {
  for (const topo::Core& core : topology.cores) fastest_ = std::max(fastest_, core.kind);
}

bool NearCores::contain(const std::vector<unsigned>& gpus, unsigned core) const {
  const topo::Core& place = topology_.cores[core];
  if (place.kind < fastest_) return false;
  return gpus.empty() || std::any_of(gpus.begin(), gpus.end(), [&](unsigned gpu) {
           return topo::distance(place, topology_.gpus[gpu]) <= topo::k_same_numa;
         });
}

}  // namespace dts::plan
