// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/hwloc_pci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace dts::topo {
namespace {

// `object` itself, or its ancestor of that type.
hwloc_obj_t enclosing(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t object) {
  return object->type == type ? object : hwloc_get_ancestor_obj_by_type(topology, type, object);
}

// The package around `object`; null if it is in several or in none. A package that is not an
// ancestor is found by its processors: in files of hwloc 1, a group of the same processors may be
// around a package.
hwloc_obj_t package_of(hwloc_topology_t topology, hwloc_obj_t object) {
  hwloc_obj_t package = enclosing(topology, HWLOC_OBJ_PACKAGE, object);
  if (package != nullptr || hwloc_bitmap_iszero(object->cpuset)) return package;
  while ((package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, package)) != nullptr)
    if (hwloc_bitmap_isincluded(object->cpuset, package->cpuset)) return package;
  return nullptr;
}

hwloc_obj_t pci_above(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
  return object;
}

}  // namespace

Device place_of(hwloc_topology_t topology, const NumaNodes& numas, hwloc_obj_t object) {
  Device device;
  for (hwloc_obj_t at = object->parent; at != nullptr; at = at->parent)
    if (at->type == HWLOC_OBJ_BRIDGE) device.bridges.push_back(at->logical_index);
  std::reverse(device.bridges.begin(), device.bridges.end());
  hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, object);
  if (near == nullptr || near->cpuset == nullptr) return device;
  const hwloc_obj_t package = package_of(topology, near);
  if (package != nullptr)
    device.package = package->logical_index;
  else if (hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE) <= 1)
    device.package = 0;  // attached to the whole machine, which has one package
  if (const auto* cache = enclosing(topology, HWLOC_OBJ_L3CACHE, near))
    device.l3 = cache->logical_index;
  device.numa = numas.around(near->cpuset);
  const hwloc_obj_t whole = package != nullptr ? package : hwloc_get_root_obj(topology);
  if (!device.numa && !hwloc_bitmap_isequal(near->cpuset, whole->cpuset))
    device.group = numas.of(near->cpuset);
  return device;
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

std::string pci_address(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
}

const std::vector<hwloc_obj_t>& below(const OsDevices& devices, hwloc_obj_t pci) {
  static const std::vector<hwloc_obj_t> k_none;
  const auto found = devices.find(pci);
  return found == devices.end() ? k_none : found->second;
}

}  // namespace dts::topo
