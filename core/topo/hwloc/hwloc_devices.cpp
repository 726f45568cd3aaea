// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/hwloc_devices.hpp"

#include "core/base/text/text.hpp"
#include "core/topo/hwloc/hwloc_pci.hpp"
#include "core/topo/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>

namespace dts::topo {
namespace {

// Libraries that enumerate GPUs, best first; they name a device by this prefix and a number.
constexpr std::array<std::string_view, 4> k_libraries{"nvml", "rsmi", "ze", "cuda"};

// The index of the library that named the device ("ze0.1" is a part of "ze0"); k_libraries.size()
// for devices of another kind.
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

constexpr unsigned k_nvidia_vendor = 0x10de, k_amd_vendor = 0x1002,
                   k_intel_vendor = 0x8086;  // PCI vendors
constexpr unsigned k_vga = 0x0300;           // PCI class
// ATI's GPUs on server boards, for a management controller's console: Rage XL, RV100, ES1000.
constexpr std::array k_consoles{0x4752U, 0x5159U, 0x515eU};

// The PCI address of the graphics in Intel's processors.
bool is_at_intel_graphics(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& device) {
  return device.domain == 0 && device.bus == 0 && device.dev == 2;
}

// By PCI class (pci-ids.ucw.cz): 0300 VGA, 0302 3D, 0380 other display (AMD Instinct, Intel Max),
// 1200 processing accelerator. Vendors not listed make the consoles of management controllers.
bool is_gpu_class(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& device) {
  const unsigned kind = device.class_id;
  switch (device.vendor_id) {
    case k_amd_vendor:
      if (std::count(k_consoles.begin(), k_consoles.end(), device.device_id) > 0) return false;
      [[fallthrough]];
    case k_nvidia_vendor:
      return kind == k_vga || kind == 0x0302 || kind == 0x0380 || kind == 0x1200;
    case k_intel_vendor:
      return kind == 0x0380 || kind == 0x1200 || (kind == k_vga && !is_at_intel_graphics(device));
    default:
      return false;
  }
}

// Display adapters, often in the processor, in addition to NVIDIA's GPUs. CUDA does not count them,
// so a rank that got one would have no GPU.
bool is_other_graphics(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  return is_gpu_class(pci) && pci.class_id == k_vga && pci.vendor_id != k_nvidia_vendor;
}

// The product name from the library; empty if it is not printable.
std::string model_of(hwloc_obj_t device) {
  const char* model = hwloc_obj_get_info_by_name(device, "GPUModel");
  const std::string text(model != nullptr ? model : "");
  return is_printable(text) ? text.substr(0, k_longest_model) : std::string();
}

// The devices of the first library that shows any, in this library's numbering.
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
  // GPUs behind an NVSwitch are linked to each other. Without this transformation, hwloc would show
  // no links between them.
  if (found != nullptr && has_switch(*found))
    for (const auto transform : {HWLOC_DISTANCES_TRANSFORM_MERGE_SWITCH_PORTS,
                                 HWLOC_DISTANCES_TRANSFORM_TRANSITIVE_CLOSURE})
      hwloc_distances_transform(topology, found, transform, nullptr, 0);
  return {found, ReleaseDistances{topology}};
}

}  // namespace

std::vector<Gpu> gpus_of(hwloc_topology_t topology, const NumaNodes& numas) {
  const OsDevices devices = os_devices(topology);
  const bool nvidia = has_nvidia_gpu(topology);
  std::vector<Gpu> gpus;
  for (hwloc_obj_t pci : pci_devices(topology)) {
    const auto known = known_gpus(below(devices, pci));
    if (known.empty() && (!is_gpu_class(pci->attr->pcidev) || (nvidia && is_other_graphics(pci))))
      continue;
    Gpu gpu = place_of(topology, numas, pci);
    gpu.pci = pci_address(pci);
    for (std::size_t part = 0; part < std::max<std::size_t>(1, known.size()); ++part) {
      gpu.part = static_cast<unsigned>(part);
      if (part < known.size()) gpu.name = known[part]->name;
      if (part < known.size()) gpu.model = model_of(known[part]);
      gpus.push_back(gpu);
    }
  }
  if (gpus.empty())  // the machine was recorded without PCI
    for (hwloc_obj_t device : known_gpus(below(devices, nullptr))) {
      gpus.push_back(place_of(topology, numas, device));
      gpus.back().name = device->name;
      gpus.back().model = model_of(device);
    }
  return gpus;
}

std::vector<std::string> uncounted_gpus(hwloc_topology_t topology) {
  std::vector<std::string> sentences;
  if (!has_nvidia_gpu(topology)) return sentences;
  const OsDevices devices = os_devices(topology);
  for (hwloc_obj_t pci : pci_devices(topology))
    if (is_other_graphics(pci) && known_gpus(below(devices, pci)).empty())
      sentences.push_back(
          fmt::format("{} is not counted as a GPU: {} graphics beside NVIDIA's GPUs",
                      pci_address(pci),
                      pci->attr->pcidev.vendor_id == k_amd_vendor ? "AMD" : "Intel"));
  return sentences;
}

bool has_nvidia_gpu(hwloc_topology_t topology) {
  const auto devices = pci_devices(topology);
  return std::any_of(devices.begin(), devices.end(), [](hwloc_obj_t device) {
    const auto& pci = device->attr->pcidev;
    return pci.vendor_id == k_nvidia_vendor && is_gpu_class(pci);
  });
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
