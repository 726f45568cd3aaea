// SPDX-License-Identifier: Apache-2.0
// The links of this machine: InfiniBand and RoCE ports, and what adapters can carry.
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

// `node`, which is this machine, with `fabric` and with the network, link and speeds of its
// adapters as the kernel shows them under `sysfs`: class/infiniband as above, for others
// class/net/<name>/ {operstate,speed}, and of each
// bus/pci/devices/<address>/current_link_{speed,width}, which every user can read (PCI's own
// registers only root). What the kernel does not say remains as it was.
[[nodiscard]] NodeTopology with_links(NodeTopology node, const std::string& sysfs = "/sys");

}  // namespace dts::topo
