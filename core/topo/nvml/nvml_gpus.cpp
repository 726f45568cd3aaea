// SPDX-License-Identifier: Apache-2.0
#include "core/topo/nvml/nvml_gpus.hpp"

#include "core/base/text/text.hpp"
#include "core/topo/json.hpp"
#include "core/topo/nvml/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

namespace dts::topo {
namespace {

constexpr unsigned k_most_links = 18;    // NVML_NVLINK_MAX_LINKS
constexpr int k_mig_enabled = 1;         // NVML_DEVICE_MIG_ENABLE
constexpr int k_link_active = 1;         // NVML_FEATURE_ENABLED
constexpr unsigned k_beyond_switch = 2;  // NVML_NVLINK_DEVICE_TYPE_SWITCH

// "00000000:3B:00.0" as hwloc writes it: lower case, a domain of four digits or more.
std::string address_of(std::string pci) {
  for (char& c : pci)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const std::size_t colon = pci.find(':');
  if (colon == std::string::npos) return {};
  pci.erase(0, std::min(pci.find_first_not_of('0'), std::max<std::size_t>(colon, 4) - 4));
  return pci;
}

// The text that `function` writes about the device; empty if it fails.
template <std::size_t longest>
std::string text_of(const Nvml& nvml, const char* function, Nvml::Device device) {
  std::array<char, longest> text{};
  const auto size = static_cast<unsigned>(text.size());
  if (nvml.call(function, device, text.data(), size) != Nvml::k_success) return {};
  return {text.data(), ::strnlen(text.data(), text.size())};
}

// Empty if there is none, and for drivers before 470, whose format MIG-GPU-UUID/7/0 is resolved by
// the GPU's own UUID.
std::string uuid_of(const Nvml& nvml, Nvml::Device device) {
  const auto uuid = text_of<k_longest_uuid>(nvml, "nvmlDeviceGetUUID", device);
  return is_safe_name(uuid) ? uuid : std::string();
}

std::string model_of(const Nvml& nvml, Nvml::Device device) {
  const auto model = text_of<k_longest_model>(nvml, "nvmlDeviceGetName", device);
  return is_printable(model) ? model : std::string();
}

bool has_mig(const Nvml& nvml, Nvml::Device device) {
  unsigned current = 0, pending = 0;
  return nvml.call("nvmlDeviceGetMigMode", device, &current, &pending) == Nvml::k_success &&
         current == k_mig_enabled;
}

std::vector<std::string> instances_of(const Nvml& nvml, Nvml::Device device) {
  std::vector<std::string> uuids;
  unsigned slots = 0;
  if (nvml.call("nvmlDeviceGetMaxMigDeviceCount", device, &slots) != Nvml::k_success) slots = 0;
  for (unsigned slot = 0; slot < std::min<std::size_t>(slots, k_most_instances); ++slot) {
    Nvml::Device instance = nullptr;
    if (nvml.call("nvmlDeviceGetMigDeviceHandleByIndex", device, slot, &instance) !=
        Nvml::k_success)
      continue;  // no instance, or another job's
    if (std::string uuid = uuid_of(nvml, instance); !uuid.empty()) uuids.push_back(std::move(uuid));
  }
  return uuids;
}

void read_links(const Nvml& nvml, Nvml::Device device, NvmlGpu& gpu) {
  for (unsigned link = 0; link < k_most_links; ++link) {
    int active = 0;
    if (nvml.call("nvmlDeviceGetNvLinkState", device, link, &active) != Nvml::k_success ||
        active != k_link_active)
      continue;
    unsigned kind = 0;
    const int told = nvml.call("nvmlDeviceGetNvLinkRemoteDeviceType", device, link, &kind);
    if (told == Nvml::k_success && kind == k_beyond_switch)
      ++gpu.switched;
    else
      gpu.peers.push_back(address_of(nvml.pci_beyond(device, link)));
  }
}

unsigned weight_between(const NvmlGpu& a, const NvmlGpu& b) {
  const auto direct = std::max(std::count(a.peers.begin(), a.peers.end(), b.pci),
                               std::count(b.peers.begin(), b.peers.end(), a.pci));
  return static_cast<unsigned>(direct) + std::min(a.switched, b.switched);
}

// Puts added GPUs, which are at the end, in order, and renumbers the links, which refer to indices.
void put_in_pci_order(NodeTopology& node) {
  std::vector<unsigned> order(node.gpus.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](unsigned gpu) {  // five-digit domains come after those with four digits
    return std::pair(node.gpus[gpu].pci.size(), node.gpus[gpu].pci);
  };
  std::stable_sort(
      order.begin(), order.end(), [&](unsigned a, unsigned b) { return key(a) < key(b); });
  std::vector<unsigned> place(order.size());
  std::vector<Gpu> gpus;
  for (const unsigned gpu : order) {
    place[gpu] = static_cast<unsigned>(gpus.size());
    gpus.push_back(std::move(node.gpus[gpu]));
  }
  node.gpus = std::move(gpus);
  for (GpuLink& link : node.links) {
    std::tie(link.a, link.b) = std::pair(place[link.a], place[link.b]);
    if (link.a > link.b) std::swap(link.a, link.b);
  }
  std::sort(node.links.begin(), node.links.end(), [](const GpuLink& x, const GpuLink& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
}

auto find_gpu(std::vector<Gpu>& gpus, const std::string& pci) {
  return std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.pci == pci; });
}

std::vector<GpuLink> links_of(NodeTopology& node, const std::vector<NvmlGpu>& known) {
  std::vector<GpuLink> links;
  const auto index = [&](const NvmlGpu& gpu) {
    return static_cast<unsigned>(find_gpu(node.gpus, gpu.pci) - node.gpus.begin());
  };
  for (const NvmlGpu& one : known)
    for (const NvmlGpu& other : known) {
      const GpuLink link{index(one), index(other), weight_between(one, other)};
      if (link.a < link.b && link.weight > 0) links.push_back(link);
    }
  std::sort(links.begin(), links.end(), [](const GpuLink& x, const GpuLink& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
  return links;
}

}  // namespace

Result<std::vector<NvmlGpu>> read_nvml(const char* library) {
  DTS_ASSIGN(const Nvml nvml, Nvml::open(library));
  DTS_ASSIGN(const std::vector<Nvml::Gpu> found, nvml.gpus());
  std::vector<NvmlGpu> all;
  for (const Nvml::Gpu& one : found) {
    if (one.status != Nvml::k_success) continue;
    NvmlGpu gpu{fmt::format("nvml{}", one.index), address_of(nvml.pci_of(one.device))};
    if (gpu.pci.empty()) continue;
    gpu.uuid = uuid_of(nvml, one.device);
    gpu.model = model_of(nvml, one.device);
    if (has_mig(nvml, one.device))
      gpu.instances = instances_of(nvml, one.device);
    else  // MIG instances reach no other GPU
      read_links(nvml, one.device, gpu);
    all.push_back(std::move(gpu));
  }
  return all;
}

NodeTopology with_nvml(NodeTopology node, const std::vector<NvmlGpu>& known) {
  const std::size_t before = node.gpus.size();
  for (const NvmlGpu& one : known) {
    auto gpu = find_gpu(node.gpus, one.pci);
    if (gpu == node.gpus.end()) gpu = node.gpus.insert(gpu, {one.pci});
    gpu->uuid = one.uuid;
    gpu->instances = one.instances;
    if (gpu->name.empty()) gpu->name = one.name;
    if (!one.model.empty()) gpu->model = one.model;
  }
  if (node.gpus.size() > before) put_in_pci_order(node);
  if (node.links.empty()) node.links = links_of(node, known);
  return node;
}

}  // namespace dts::topo
