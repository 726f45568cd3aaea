// SPDX-License-Identifier: Apache-2.0
#include "core/topo/distance.hpp"

#include <algorithm>

namespace dts::topo {

unsigned distance(const Core& core, const Device& device) {
  const bool same_package = device.package == core.package;
  const bool same_numa = device.numa == core.numa;
  if (!device.group.empty()) {
    if (std::binary_search(device.group.begin(), device.group.end(), core.numa)) return 0;
    return same_package ? k_same_package : k_other_package;
  }
  if ((!device.package || same_package) && (!device.numa || same_numa) &&
      (!device.l3 || device.l3 == core.l3))
    return 0;
  if (same_numa) return k_same_numa;
  return same_package ? k_same_package : k_other_package;
}

Path path(const Device& a, const Device& b) {
  const auto [end_a, end_b] =
      std::mismatch(a.bridges.begin(), a.bridges.end(), b.bridges.begin(), b.bridges.end());
  const auto shared = end_a - a.bridges.begin();
  if (shared > 1) {  // beyond the host bridge: paths meet in a switch, at different ports
    const auto rest = std::max(a.bridges.end() - end_a, b.bridges.end() - end_b);
    return rest <= 1 ? Path::pix : Path::pxb;
  }
  if (shared == 1) return Path::phb;
  if (a.numa && a.numa == b.numa) return Path::node;
  return a.package && a.package == b.package ? Path::pkg : Path::sys;
}

const char* to_string(Path path) {
  constexpr const char* k_names[] = {"PIX", "PXB", "PHB", "NODE", "PKG", "SYS"};
  return k_names[static_cast<unsigned>(path)];
}

}  // namespace dts::topo
