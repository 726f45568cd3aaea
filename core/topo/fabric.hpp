// SPDX-License-Identifier: Apache-2.0
// The links of this machine: InfiniBand and RoCE ports, and the speeds of adapters.
#pragma once

#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::topo {

// The active ports that the kernel shows under `folder` (Linux, ABI/stable/sysfs-class-infiniband):
// ports/<number>/{state,link_layer,rate} of each adapter. This needs neither hwloc's own objects
// nor its PCI filter. Omits ports of other kinds (Amazon's EFA), which NCCL reaches through a
// plug-in. Empty if there is no such folder.
[[nodiscard]] std::vector<FabricPort> find_fabric(
    const std::string& folder = "/sys/class/infiniband");

// `node`, which must be this machine, with `fabric` filled in, and with the network, link and
// speeds of its adapters as the kernel shows them under `sysfs`: class/infiniband as above, for
// others class/net/<name>/{operstate,speed}, and for each
// bus/pci/devices/<address>/current_link_{speed,width}, which every user can read (unlike PCI's own
// registers, which only root can). Whatever the kernel does not report stays as it was.
[[nodiscard]] NodeTopology with_links(NodeTopology node, const std::string& sysfs = "/sys");

}  // namespace dts::topo
