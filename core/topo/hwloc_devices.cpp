// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc_devices.hpp"

#include "core/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>

namespace dts::topo {
namespace {

// Libraries that count GPUs, the best first: their names for a device are this and a number.
constexpr std::array<std::string_view, 4> k_libraries{"nvml", "rsmi", "ze", "cuda"};

// The library's index; k_libraries.size(): another kind of device. "ze0.1" is a part of "ze0".
std::size_t library_of(hwloc_obj_t device) {
  const std::string_view name = device->name != nullptr ? device->name : "";
  std::size_t index = 0;
  for (; index < k_libraries.size(); ++index) {
    const std::string_view prefix = k_libraries[index];
    if (name.size() > prefix.size() && name.starts_with(prefix) &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos)
      break;
  }
  return index;
}

constexpr unsigned k_nvidia = 0x10de, k_amd = 0x1002;  // PCI vendors
constexpr unsigned k_vga = 0x0300;                     // PCI class
// ATI's on server boards, the console of a management controller: Rage XL, RV100, ES1000.
constexpr std::array k_consoles{0x4752U, 0x5159U, 0x515eU};

// By PCI class (pci-ids.ucw.cz): 0300 VGA, 0302 3D, 0380 other display (AMD Instinct, Intel Max),
// 1200 processing accelerator. Intel's 0300 is the graphics of a desktop processor; vendors not
// listed are the consoles of management controllers.
bool is_gpu_class(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& device) {
  const unsigned kind = device.class_id;
  switch (device.vendor_id) {
    case k_amd:
      if (std::count(k_consoles.begin(), k_consoles.end(), device.device_id) > 0) return false;
      [[fallthrough]];
    case k_nvidia:
      return kind == k_vga || kind == 0x0302 || kind == 0x0380 || kind == 0x1200;
    case 0x8086:
      return kind == 0x0380 || kind == 0x1200;
    default:
      return false;
  }
}

// Beside NVIDIA's GPUs it is the processor's own graphics, which CUDA does not count.
bool is_amd_vga(hwloc_obj_t device) {
  return device->attr->pcidev.vendor_id == k_amd && device->attr->pcidev.class_id == k_vga;
}

// 0207 InfiniBand, 0208 fabric (Omni-Path); Slingshot's Cassini and Amazon's EFA call themselves
// Ethernet.
bool is_nic_class(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& device) {
  const bool efa = device.vendor_id == 0x1d0f && (device.device_id & 0xfff0) == 0xefa0;
  return device.class_id == 0x0207 || device.class_id == 0x0208 || device.vendor_id == 0x17db ||
         efa;
}

// `object` itself, or what it is in.
hwloc_obj_t enclosing(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t object) {
  return object->type == type ? object : hwloc_get_ancestor_obj_by_type(topology, type, object);
}

Device place_of(hwloc_topology_t topology, hwloc_obj_t object) {
  Device device;
  for (hwloc_obj_t at = object->parent; at != nullptr; at = at->parent)
    if (at->type == HWLOC_OBJ_BRIDGE) device.bridges.push_back(at->logical_index);
  std::reverse(device.bridges.begin(), device.bridges.end());
  hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, object);
  if (near == nullptr || near->cpuset == nullptr) return device;
  if (const auto* package = enclosing(topology, HWLOC_OBJ_PACKAGE, near))
    device.package = package->logical_index;
  if (const auto* cache = enclosing(topology, HWLOC_OBJ_L3CACHE, near))
    device.l3 = cache->logical_index;
  if (hwloc_obj_t node = numa_around(topology, near->cpuset)) device.numa = node->logical_index;
  return device;
}

// Every OS device that is below a PCI device, by that; those below none under null.
using OsDevices = std::map<hwloc_obj_t, std::vector<hwloc_obj_t>>;

hwloc_obj_t pci_above(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
  return object;
}

OsDevices os_devices(hwloc_topology_t topology) {
  OsDevices devices;
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_osdev(topology, device)) != nullptr)
    if (device->name != nullptr) devices[pci_above(device)].push_back(device);
  return devices;
}

std::vector<hwloc_obj_t> pci_devices(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> devices;
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_pcidev(topology, device)) != nullptr)
    if (device->attr != nullptr) devices.push_back(device);
  const auto address = [](hwloc_obj_t d) {
    const auto& pci = d->attr->pcidev;
    return std::make_tuple(pci.domain, pci.bus, pci.dev, pci.func);
  };
  std::sort(devices.begin(), devices.end(), [&](hwloc_obj_t a, hwloc_obj_t b) {
    return address(a) < address(b);
  });
  return devices;
}

// Of what one library shows among `devices`, the best that shows any, in its order of numbers.
std::vector<hwloc_obj_t> known_gpus(const std::vector<hwloc_obj_t>& devices) {
  std::array<std::vector<hwloc_obj_t>, k_libraries.size()> found;
  for (hwloc_obj_t device : devices)
    if (const std::size_t library = library_of(device); library < found.size())
      found[library].push_back(device);
  for (auto& list : found) {
    if (list.empty()) continue;
    const auto number = [](hwloc_obj_t d) {
      const std::string_view name = d->name;
      return std::pair(name.size(), name);
    };
    std::sort(list.begin(), list.end(), [&](hwloc_obj_t a, hwloc_obj_t b) {
      return number(a) < number(b);
    });
    return list;
  }
  return {};
}

std::string pci_address(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
}

const std::vector<hwloc_obj_t>& below(const OsDevices& devices, hwloc_obj_t pci) {
  static const std::vector<hwloc_obj_t> k_none;
  const auto found = devices.find(pci);
  return found == devices.end() ? k_none : found->second;
}

// A name of OpenFabrics before that of a network interface; null: no such device.
const char* nic_name(const std::vector<hwloc_obj_t>& devices, hwloc_obj_osdev_type_t type) {
  for (hwloc_obj_t device : devices)
    if (device->attr->osdev.type == type) return device->name;
  return nullptr;
}

struct ReleaseDistances {
  hwloc_topology_t topology;

  void operator()(hwloc_distances_s* distances) const {
    hwloc_distances_release(topology, distances);
  }
};

bool has_switch(const hwloc_distances_s& distances) {
  return std::any_of(distances.objs, distances.objs + distances.nbobjs, [](hwloc_obj_t object) {
    return object != nullptr && object->subtype != nullptr &&
           std::string_view(object->subtype) == "NVSwitch";
  });
}

// The bandwidths of one kind of link; null: not recorded.
std::unique_ptr<hwloc_distances_s, ReleaseDistances> bandwidths(hwloc_topology_t topology,
                                                                const char* name) {
  unsigned count = 1;
  hwloc_distances_s* found = nullptr;
  if (hwloc_distances_get_by_name(topology, name, &count, &found, 0) != 0 || count == 0)
    found = nullptr;
  // GPUs behind a switch are linked to each other. Without one hwloc's closure leaves no link at
  // all.
  if (found != nullptr && has_switch(*found))
    for (const auto transform : {HWLOC_DISTANCES_TRANSFORM_MERGE_SWITCH_PORTS,
                                 HWLOC_DISTANCES_TRANSFORM_TRANSITIVE_CLOSURE})
      hwloc_distances_transform(topology, found, transform, nullptr, 0);
  return {found, ReleaseDistances{topology}};
}

}  // namespace

hwloc_obj_t numa_around(hwloc_topology_t topology, hwloc_const_bitmap_t cpus) {
  const auto is_smaller = [](hwloc_obj_t a, hwloc_obj_t b) {
    return hwloc_bitmap_weight(a->cpuset) < hwloc_bitmap_weight(b->cpuset);
  };
  hwloc_obj_t best = nullptr, within = nullptr;  // `within`: the smallest around a part of them
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (!hwloc_bitmap_intersects(cpus, node->cpuset)) continue;
    hwloc_obj_t& found = hwloc_bitmap_isincluded(cpus, node->cpuset) ? best : within;
    if (found == nullptr || is_smaller(node, found)) found = node;
  }
  return best != nullptr && within != nullptr && is_smaller(within, best) ? nullptr : best;
}

std::vector<Gpu> gpus_of(hwloc_topology_t topology) {
  const OsDevices devices = os_devices(topology);
  const bool nvidia = has_nvidia_gpu(topology);
  std::vector<Gpu> gpus;
  for (hwloc_obj_t pci : pci_devices(topology)) {
    const auto known = known_gpus(below(devices, pci));
    if (known.empty() && (!is_gpu_class(pci->attr->pcidev) || (nvidia && is_amd_vga(pci))))
      continue;
    Gpu gpu = place_of(topology, pci);
    gpu.pci = pci_address(pci);
    for (std::size_t part = 0; part < std::max<std::size_t>(1, known.size()); ++part) {
      gpu.part = static_cast<unsigned>(part);
      if (part < known.size()) gpu.name = known[part]->name;
      gpus.push_back(gpu);
    }
  }
  if (gpus.empty())  // recorded without PCI
    for (hwloc_obj_t device : known_gpus(below(devices, nullptr))) {
      gpus.push_back(place_of(topology, device));
      gpus.back().name = device->name;
    }
  return gpus;
}

bool has_nvidia_gpu(hwloc_topology_t topology) {
  const auto devices = pci_devices(topology);
  return std::any_of(devices.begin(), devices.end(), [](hwloc_obj_t device) {
    const auto& pci = device->attr->pcidev;
    return pci.vendor_id == k_nvidia && is_gpu_class(pci);
  });
}

std::vector<Nic> nics_of(hwloc_topology_t topology) {
  const OsDevices devices = os_devices(topology);
  std::vector<Nic> nics;
  for (hwloc_obj_t pci : pci_devices(topology)) {
    const auto& os = below(devices, pci);
    const char* name = nic_name(os, HWLOC_OBJ_OSDEV_OPENFABRICS);
    if (name == nullptr && !is_nic_class(pci->attr->pcidev)) continue;
    if (name == nullptr) name = nic_name(os, HWLOC_OBJ_OSDEV_NETWORK);
    nics.push_back(place_of(topology, pci));
    nics.back().pci = pci_address(pci);
    nics.back().ethernet = !is_nic_class(pci->attr->pcidev) && pci->attr->pcidev.class_id == 0x0200;
    if (name != nullptr && is_safe_name(name)) nics.back().name = name;
  }
  return nics;
}

std::vector<GpuLink> links_of(hwloc_topology_t topology, const std::vector<Gpu>& gpus) {
  std::map<std::string_view, unsigned> index_of;
  for (unsigned i = 0; i < gpus.size(); ++i)
    if (!gpus[i].name.empty()) index_of.emplace(gpus[i].name, i);
  std::map<std::pair<unsigned, unsigned>, unsigned> weights;
  for (const char* name : {"NVLinkBandwidth", "XGMIBandwidth"}) {
    const auto found = bandwidths(topology, name);
    if (!found) continue;
    const auto gpu = [&](unsigned i) {
      hwloc_obj_t object = found->objs[i];
      const auto at = object != nullptr && object->name != nullptr ? index_of.find(object->name)
                                                                   : index_of.end();
      return at == index_of.end() ? gpus.size() : at->second;
    };
    for (unsigned i = 0; i < found->nbobjs; ++i)
      for (unsigned j = i + 1; j < found->nbobjs; ++j) {
        const std::size_t a = std::min(gpu(i), gpu(j)), b = std::max(gpu(i), gpu(j));
        const hwloc_uint64_t weight =
            std::min(found->values[i * found->nbobjs + j], found->values[j * found->nbobjs + i]);
        if (a != b && b < gpus.size() && weight > 0)
          weights[{static_cast<unsigned>(a), static_cast<unsigned>(b)}] =
              static_cast<unsigned>(std::min<hwloc_uint64_t>(weight, 1U << 30));
      }
  }
  std::vector<GpuLink> links;
  for (const auto& [pair, weight] : weights) links.push_back({pair.first, pair.second, weight});
  return links;
}

}  // namespace dts::topo
