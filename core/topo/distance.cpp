// SPDX-License-Identifier: Apache-2.0
#include "core/topo/distance.hpp"

namespace dts::topo {

unsigned distance(const Core& core, const Gpu& gpu) {
  const bool same_package = gpu.package == core.package;
  const bool same_numa = gpu.numa == core.numa;
  if ((!gpu.package || same_package) && (!gpu.numa || same_numa) && (!gpu.l3 || gpu.l3 == core.l3))
    return 0;
  if (same_numa) return k_same_numa;
  return same_package ? k_same_package : k_other_package;
}

}  // namespace dts::topo
