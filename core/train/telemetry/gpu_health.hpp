// SPDX-License-Identifier: Apache-2.0
// The health of a rank's GPU while it computes, from NVML (topo/nvml/nvml.hpp): clocks, reasons for
// throttling, temperature, power and memory errors; and its links to the GPUs of other ranks.
#pragma once

#include "core/topo/nvml/nvml.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dts::train {

// Plain data, sent between ranks. Negative values are unknown.
struct GpuHealth {
  int clock = -1;         // current clock of its processors, MHz
  int memory_clock = -1;  // current clock of its memory, MHz
  int temperature = -1;   // degrees Celsius
  double power = -1;      // W
  // A set of nvmlClocksThrottleReasons: what keeps clocks below their maximum.
  std::int64_t throttling = -1;
  std::int64_t uncorrected = -1;  // memory errors since the driver was loaded
};

// The links between a GPU and another one on its node.
struct GpuLink {
  int nvlinks =
      -1;          // that are active between both, or to a switch where the other one has some, too
  int reads = -1;  // 1: it can read the other GPU's memory directly; 0: it cannot
};

// Not thread-safe. If the driver hangs, each function may hang.
class GpuMonitor {
 public:
  // Monitors the GPU with that PCI address, as in sysfs. Without NVML or such a GPU all is unknown.
  explicit GpuMonitor(std::string pci, const char* library = topo::Nvml::k_library);

  [[nodiscard]] GpuHealth read() const;

  // The links to the GPU with that PCI address on the same node.
  [[nodiscard]] GpuLink link_to(const std::string& pci) const;

 private:
  [[nodiscard]] topo::Nvml::Device device_of(const std::string& pci) const;

  std::optional<topo::Nvml> nvml_;
  topo::Nvml::Device device_ = nullptr;
};

// A JSON list with an object for each rank; unknown values are null. Pure.
[[nodiscard]] std::string healths_json(std::span<const GpuHealth> by_rank);

// Names of the nvmlClocksThrottleReasons in `reasons` that slow a GPU down, such as "power cap" and
// "hardware thermal slowdown"; empty if there are none. Pure.
[[nodiscard]] std::vector<std::string> throttle_words(std::uint64_t reasons);

}  // namespace dts::train
