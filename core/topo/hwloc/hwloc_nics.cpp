// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/hwloc_nics.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/topo/hwloc/adapter_models.hpp"
#include "core/topo/hwloc/hwloc_pci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

namespace dts::topo {
namespace {

using PciDevice = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

// 0207 InfiniBand, 0208 fabric (Omni-Path); Slingshot's Cassini (HPE, 17db) and Amazon's EFA
// present themselves as Ethernet. Absent: unknown.
std::optional<Network> special_network(const PciDevice& device) {
  if (device.class_id == 0x0207) return Network::infiniband;
  if (device.class_id == 0x0208) return Network::omni_path;
  if (device.vendor_id == 0x17db) return Network::slingshot;
  if (device.vendor_id == 0x1d0f && (device.device_id & 0xfff0) == 0xefa0) return Network::efa;
  return std::nullopt;
}

hwloc_obj_t first_of(const std::vector<hwloc_obj_t>& devices, hwloc_obj_osdev_type_t type) {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](hwloc_obj_t device) {
    return device->attr->osdev.type == type;
  });
  return found == devices.end() ? nullptr : *found;
}

// The OpenFabrics state of a port: 4 is active (InfiniBand Architecture, PortState). An active port
// without a local identifier is Ethernet (annex A17).
struct Port {
  bool active = false;
  bool ethernet = false;
};

std::vector<Port> ports_of(hwloc_obj_t openfabrics) {
  std::vector<Port> ports;
  for (unsigned number = 1;; ++number) {
    const char* state =
        hwloc_obj_get_info_by_name(openfabrics, fmt::format("Port{}State", number).c_str());
    if (state == nullptr) return ports;
    const char* lid =
        hwloc_obj_get_info_by_name(openfabrics, fmt::format("Port{}LID", number).c_str());
    ports.push_back(
        {std::string_view(state) == "4", lid != nullptr && std::string_view(lid) == "0x0"});
  }
}

void read_ports(const std::vector<Port>& ports, Nic& nic) {
  if (ports.empty()) return;
  const auto active = [](const Port& port) { return port.active; };
  nic.link = std::any_of(ports.begin(), ports.end(), active) ? Link::up : Link::down;
  if (nic.network == Network::infiniband && nic.link == Link::up &&
      std::all_of(ports.begin(), ports.end(), [](const Port& port) {
        return port.ethernet || !port.active;
      }))
    nic.network = Network::ethernet;
}

// Per second. The fastest links have hundreds: more is a damaged value.
constexpr float k_most_gigabytes = 10'000;

// hwloc reports gigabytes per second.
unsigned whole_gbps(float bytes) {
  const bool is_plausible = bytes > 0 && bytes < k_most_gigabytes;
  return is_plausible ? std::max(1U, static_cast<unsigned>(std::lround(8 * bytes))) : 0;
}

// Virtual functions are on the bus of their physical one, behind its root port. In a virtual
// machine, the physical one is not there.
class VirtualFunctions {
 public:
  // True for one whose physical function came before it.
  bool take(const Nic& nic, const PciDevice& device) {
    const bool is_virtual = is_virtual_function(device.vendor_id, device.device_id);
    const auto found = behind_.find(nic.bridges);
    if (is_virtual && found != behind_.end()) ++found->second.functions;
    if (!is_virtual && nic.bridges.size() > 1)
      behind_[nic.bridges].name = nic.name.empty() ? nic.pci : nic.name;
    return is_virtual && found != behind_.end();
  }

  void describe(std::vector<std::string>& notes) const {
    for (const auto& [bridges, physical] : behind_)
      if (physical.functions > 0)
        notes.push_back(fmt::format("{} of {} left out (the same port)",
                                    counted(physical.functions, "virtual function"),
                                    physical.name));
  }

 private:
  struct Physical {
    std::string name;
    unsigned functions = 0;
  };

  std::map<std::vector<unsigned>, Physical> behind_;  // by the bridges above it
};

}  // namespace

std::vector<Nic> nics_of(hwloc_topology_t topology,
                         const NumaNodes& numas,
                         std::vector<std::string>& notes) {
  const OsDevices devices = os_devices(topology);
  VirtualFunctions functions;
  std::vector<Nic> nics;
  for (hwloc_obj_t pci : pci_devices(topology)) {
    const PciDevice& device = pci->attr->pcidev;
    const auto& os = below(devices, pci);
    const hwloc_obj_t openfabrics = first_of(os, HWLOC_OBJ_OSDEV_OPENFABRICS);
    const auto special = special_network(device);
    if (openfabrics == nullptr && !special) continue;
    Nic nic = place_of(topology, numas, pci);
    nic.pci = pci_address(pci);
    // A port of a VPI adapter has class 0200 or 0280, and may be either network.
    nic.network =
        special.value_or(device.class_id == 0x0200 ? Network::ethernet : Network::infiniband);
    nic.gbps = most_gbps(device.vendor_id, device.device_id);
    nic.pci_gbps = whole_gbps(device.linkspeed);
    if (openfabrics != nullptr) read_ports(ports_of(openfabrics), nic);
    const hwloc_obj_t named =
        openfabrics != nullptr ? openfabrics : first_of(os, HWLOC_OBJ_OSDEV_NETWORK);
    if (named != nullptr && is_safe_name(named->name)) nic.name = named->name;
    if (openfabrics == nullptr || !functions.take(nic, device)) nics.push_back(std::move(nic));
  }
  functions.describe(notes);
  return nics;
}

}  // namespace dts::topo
