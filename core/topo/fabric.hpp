// SPDX-License-Identifier: Apache-2.0
// The InfiniBand and RoCE ports of this machine.
#pragma once

#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::topo {

// The active ports that the kernel shows under `folder` (Linux, ABI/stable/sysfs-class-infiniband):
// ports/<number>/{state,link_layer,rate} of each adapter. Neither hwloc's own objects nor its PCI
// filter are needed. Ports of another kind (Amazon's EFA) are left out: NCCL reaches those through
// a plug-in. Empty where there is no such folder.
[[nodiscard]] std::vector<FabricPort> find_fabric(
    const std::string& folder = "/sys/class/infiniband");

}  // namespace dts::topo
