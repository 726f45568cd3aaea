// SPDX-License-Identifier: Apache-2.0
// How a rank's GPU is while it computes, as NVML tells it (topo/nvml/nvml.hpp): clocks, what holds
// them back, temperature, power, memory errors; and what joins it with the GPUs of other ranks.
#pragma once

#include "core/topo/nvml/nvml.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dts::train {

// Plain data, sent between ranks. Negative: not known.
struct GpuHealth {
  int clock = -1;         // of its processors, now, MHz
  int memory_clock = -1;  // likewise
  int temperature = -1;   // degrees Celsius
  double power = -1;      // W
  // nvmlClocksThrottleReasons: what keeps clocks below their highest.
  std::int64_t throttling = -1;
  std::int64_t uncorrected = -1;  // errors of its memory since the driver was loaded
};

// Between a GPU and another one of its node.
struct GpuLink {
  int nvlinks =
      -1;          // that are active between both, or to a switch where the other one has some, too
  int reads = -1;  // 1: it can read the other one's memory directly; 0: it cannot
};

// Not thread-safe. A driver that hangs may hang in each function.
class GpuMonitor {
 public:
  // Of the GPU with that PCI address, as in sysfs. Without NVML or such a GPU nothing is known.
  explicit GpuMonitor(std::string pci, const char* library = topo::Nvml::k_library);

  [[nodiscard]] GpuHealth read() const;

  // To the GPU with that address, on the same node.
  [[nodiscard]] GpuLink link_to(const std::string& pci) const;

 private:
  [[nodiscard]] topo::Nvml::Device device_of(const std::string& pci) const;

  std::optional<topo::Nvml> nvml_;
  topo::Nvml::Device device_ = nullptr;
};

// A JSON list, an object a rank; null is what is not known. Pure.
[[nodiscard]] std::string healths_json(std::span<const GpuHealth> by_rank);

// "power cap, hardware thermal slowdown": those of nvmlClocksThrottleReasons that slow a GPU down;
// empty if none does. Pure.
[[nodiscard]] std::vector<std::string> throttle_words(std::uint64_t reasons);

}  // namespace dts::train
