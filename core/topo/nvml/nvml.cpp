// SPDX-License-Identifier: Apache-2.0
#include "core/topo/nvml/nvml.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace dts::topo {
namespace {

// nvmlPciInfo_t
struct PciInfo {
  std::array<char, 16> legacy_id;
  std::array<unsigned, 5> numbers;
  std::array<char, 32> id;
};

std::string text_of(const PciInfo& pci) {
  return {pci.id.data(), ::strnlen(pci.id.data(), pci.id.size())};
}

std::string words(void* library, int error) {
  using Function = const char* (*)(int);
  const auto function = reinterpret_cast<Function>(::dlsym(library, "nvmlErrorString"));
  return function == nullptr ? fmt::format("error {}", error) : function(error);
}

}  // namespace

void Nvml::End::operator()(void* library) const {
  using Function = int (*)();
  if (const auto end = reinterpret_cast<Function>(::dlsym(library, "nvmlShutdown"))) end();
  ::dlclose(library);
}

Result<Nvml> Nvml::open(const char* library) {
  void* loaded = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return fail(Errc::not_found, ::dlerror());
  Nvml nvml(loaded, library);
  const int begun = nvml.call("nvmlInit_v2");
  if (begun == k_success) return nvml;
  const std::string why = words(loaded, begun);
  ::dlclose(nvml.library_.release());  // not initialised, so not shut down
  return fail(Errc::not_found, fmt::format("{}: {}", library, why));
}

Result<std::vector<Nvml::Gpu>> Nvml::gpus() const {
  unsigned count = 0;
  const int counted = call("nvmlDeviceGetCount_v2", &count);
  if (counted != k_success)
    return fail(Errc::not_found, fmt::format("{}: {}", name_, words(library_.get(), counted)));
  std::vector<Gpu> all;
  for (unsigned index = 0; index < count; ++index) {
    Gpu gpu{index};
    gpu.status = call("nvmlDeviceGetHandleByIndex_v2", index, &gpu.device);
    if (gpu.status == k_no_permission) continue;  // another job's
    if (gpu.status != k_success) gpu.device = nullptr;
    all.push_back(gpu);
  }
  return all;
}

std::string Nvml::pci_of(Device device) const {
  PciInfo pci{};
  return call("nvmlDeviceGetPciInfo_v3", device, &pci) == k_success ? text_of(pci) : std::string();
}

std::string Nvml::pci_beyond(Device device, unsigned link) const {
  PciInfo pci{};
  const int found = call("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link, &pci);
  return found == k_success ? text_of(pci) : std::string();
}

}  // namespace dts::topo
