// SPDX-License-Identifier: Apache-2.0
#include "core/launch/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>

namespace dts::launch {
namespace {

// Of nvml.h (NVML API Reference), whose header is not there where only a driver is installed.
using Device = void*;
constexpr int k_success = 0;
constexpr int k_no_permission = 4;
constexpr int k_gpu_is_lost = 15;
constexpr int k_uncorrected = 1;   // nvmlMemoryErrorType_t
constexpr int k_volatile_ecc = 0;  // nvmlEccCounterType_t: since the driver was loaded

struct PciInfo {
  std::array<char, 16> legacy_id;
  std::array<unsigned, 5> numbers;
  std::array<char, 32> id;
};

class Nvml {
 public:
  explicit Nvml(void* library) : library_(library, &::dlclose) {}

  // NVML_ERROR_FUNCTION_NOT_FOUND where this release does not have it.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    constexpr int k_function_not_found = 13;
    using Function = int (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(::dlsym(library_.get(), name));
    return function == nullptr ? k_function_not_found : function(arguments...);
  }

  [[nodiscard]] std::string words(int error) const {
    using Function = const char* (*)(int);
    const auto function = reinterpret_cast<Function>(::dlsym(library_.get(), "nvmlErrorString"));
    return function == nullptr ? fmt::format("error {}", error) : function(error);
  }

  [[nodiscard]] std::vector<GpuFacts> gpus(unsigned count) const {
    std::vector<GpuFacts> all;
    for (unsigned index = 0; index < count; ++index) {
      Device device = nullptr;
      const int found = call("nvmlDeviceGetHandleByIndex_v2", index, &device);
      if (found == k_no_permission) continue;  // another job's
      GpuFacts gpu;
      gpu.pci = fmt::format("number {}", index);
      gpu.lost = found == k_gpu_is_lost;
      if (found == k_success) look_at(device, gpu);
      all.push_back(std::move(gpu));
    }
    return all;
  }

 private:
  void look_at(Device device, GpuFacts& gpu) const {
    PciInfo pci{};
    if (call("nvmlDeviceGetPciInfo_v3", device, &pci) == k_success)
      gpu.pci = std::string(pci.id.data(), ::strnlen(pci.id.data(), pci.id.size()));
    unsigned long long errors = 0;
    const int counted =
        call("nvmlDeviceGetTotalEccErrors", device, k_uncorrected, k_volatile_ecc, &errors);
    if (counted == k_success) gpu.uncorrected = errors;
    int retirement = 0;
    if (call("nvmlDeviceGetRetiredPagesPendingStatus", device, &retirement) == k_success)
      gpu.retirement_pending = retirement != 0;
    std::array<unsigned, 4> rows{};  // corrected, uncorrected, pending, failed
    if (call("nvmlDeviceGetRemappedRows", device, &rows[0], &rows[1], &rows[2], &rows[3]) ==
        k_success) {
      gpu.retirement_pending = gpu.retirement_pending || rows[2] != 0;
      gpu.remap_failed = rows[3] != 0;
    }
    unsigned long long throttling = 0;
    const int clocks = call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &throttling);
    if (clocks == k_success) gpu.throttling = throttling;
    gpu.lost = counted == k_gpu_is_lost || clocks == k_gpu_is_lost;
  }

  std::unique_ptr<void, int (*)(void*)> library_;
};

}  // namespace

Result<std::vector<GpuFacts>> ask_nvml(const char* library) {
  void* loaded = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return fail(Errc::not_found, ::dlerror());
  const Nvml nvml(loaded);
  if (const int begun = nvml.call("nvmlInit_v2"); begun != k_success)
    return fail(Errc::not_found, fmt::format("{}: {}", library, nvml.words(begun)));
  unsigned count = 0;
  const int counted = nvml.call("nvmlDeviceGetCount_v2", &count);
  std::vector<GpuFacts> gpus;
  if (counted == k_success) gpus = nvml.gpus(count);
  nvml.call("nvmlShutdown");
  if (counted != k_success)
    return fail(Errc::not_found, fmt::format("{}: {}", library, nvml.words(counted)));
  return gpus;
}

}  // namespace dts::launch
