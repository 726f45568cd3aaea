// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dts::launch {
namespace {

using topo::Nvml;

constexpr int k_uncorrected = 1;   // nvmlMemoryErrorType_t
constexpr int k_volatile_ecc = 0;  // nvmlEccCounterType_t: since the driver was loaded

void look_at(const Nvml& nvml, Nvml::Device device, GpuFacts& gpu) {
  if (const std::string pci = nvml.pci_of(device); !pci.empty()) gpu.pci = pci;
  unsigned long long errors = 0;
  const int counted =
      nvml.call("nvmlDeviceGetTotalEccErrors", device, k_uncorrected, k_volatile_ecc, &errors);
  if (counted == Nvml::k_success) gpu.uncorrected = errors;
  int retirement = 0;
  if (nvml.call("nvmlDeviceGetRetiredPagesPendingStatus", device, &retirement) == Nvml::k_success)
    gpu.retirement_pending = retirement != 0;
  std::array<unsigned, 4> rows{};  // corrected, uncorrected, pending, failed
  if (nvml.call("nvmlDeviceGetRemappedRows", device, &rows[0], &rows[1], &rows[2], &rows[3]) ==
      Nvml::k_success) {
    gpu.retirement_pending = gpu.retirement_pending || rows[2] != 0;
    gpu.remap_failed = rows[3] != 0;
  }
  unsigned long long throttling = 0;
  const int clocks = nvml.call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &throttling);
  if (clocks == Nvml::k_success) gpu.throttling = throttling;
  unsigned mig = 0, later = 0, instances = 0;
  if (nvml.call("nvmlDeviceGetMigMode", device, &mig, &later) == Nvml::k_success && mig != 0 &&
      nvml.call("nvmlDeviceGetMaxMigDeviceCount", device, &instances) == Nvml::k_success)
    gpu.instances = std::max(1U, instances);
  gpu.lost = counted == Nvml::k_gpu_is_lost || clocks == Nvml::k_gpu_is_lost;
}

}  // namespace

Result<std::vector<GpuFacts>> ask_nvml(const char* library) {
  DTS_ASSIGN(const Nvml nvml, Nvml::open(library));
  DTS_ASSIGN(const std::vector<Nvml::Gpu> found, nvml.gpus());
  std::vector<GpuFacts> all;
  for (const Nvml::Gpu& one : found) {
    GpuFacts gpu;
    gpu.pci = fmt::format("number {}", one.index);
    gpu.lost = one.status == Nvml::k_gpu_is_lost;
    if (one.status == Nvml::k_success) look_at(nvml, one.device, gpu);
    all.push_back(std::move(gpu));
  }
  return all;
}

}  // namespace dts::launch
