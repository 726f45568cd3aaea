// SPDX-License-Identifier: Apache-2.0
#include "core/train/telemetry/gpu_health.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace dts::train {
namespace {

using nlohmann::ordered_json;
using topo::Nvml;

// nvml.h
constexpr int k_processors = 1;   // nvmlClockType_t: SM
constexpr int k_memory = 2;       // MEM
constexpr int k_of_the_chip = 0;  // nvmlTemperatureSensors_t
constexpr int k_uncorrected = 1;  // nvmlMemoryErrorType_t
constexpr int k_volatile = 0;     // nvmlEccCounterType_t: since the driver was loaded
constexpr int k_can_read = 0;     // nvmlGpuP2PCapsIndex_t
constexpr unsigned k_most_links = 18;
constexpr unsigned k_switch = 2;  // nvmlIntNvLinkDeviceType_t

// nvmlClocksThrottleReason*. 0x1 is omitted: the GPU is idle.
constexpr std::pair<std::uint64_t, const char*> k_reasons[] = {
    {0x2, "application clocks"},
    {0x4, "power cap"},
    {0x8, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "power brake"},
    {0x100, "display clocks"},
};

// -1 if unknown.
template <class Value, class... Arguments>
Value number_of(const Nvml& nvml, const char* function, Nvml::Device device, Arguments... which) {
  unsigned value = 0;
  const int status = nvml.call(function, device, which..., &value);
  return status == Nvml::k_success ? static_cast<Value>(value) : Value(-1);
}

std::int64_t wide_number_of(const int status, unsigned long long value) {
  return status == Nvml::k_success ? static_cast<std::int64_t>(value) : -1;
}

// The form that sysfs and NVML have in common: lower case, with a domain of four digits.
std::string address_of(std::string pci) {
  for (char& letter : pci)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  const std::size_t colon = pci.find(':');
  return colon != std::string::npos && colon > 4 ? pci.substr(colon - 4) : pci;
}

struct NvLinks {
  int direct = 0;    // to the other GPU
  int switched = 0;  // to a switch
};

NvLinks links_of(const Nvml& nvml, Nvml::Device device, const std::string& other) {
  NvLinks links;
  for (unsigned link = 0; link < k_most_links; ++link) {
    int active = 0;
    if (nvml.call("nvmlDeviceGetNvLinkState", device, link, &active) != Nvml::k_success ||
        active == 0)
      continue;
    unsigned kind = 0;
    const int told = nvml.call("nvmlDeviceGetNvLinkRemoteDeviceType", device, link, &kind);
    if (told == Nvml::k_success && kind == k_switch)
      ++links.switched;
    else if (address_of(nvml.pci_beyond(device, link)) == other)
      ++links.direct;
  }
  return links;
}

template <class Value>
ordered_json known(Value value) {
  return value < 0 ? ordered_json(nullptr) : ordered_json(value);
}

}  // namespace

GpuMonitor::GpuMonitor(std::string pci, const char* library) {
  auto nvml = Nvml::open(library);
  if (pci.empty() || !nvml) return;
  nvml_.emplace(*std::move(nvml));
  device_ = device_of(pci);
}

Nvml::Device GpuMonitor::device_of(const std::string& pci) const {
  Nvml::Device device = nullptr;
  const int found = nvml_->call("nvmlDeviceGetHandleByPciBusId_v2", pci.c_str(), &device);
  return found == Nvml::k_success ? device : nullptr;
}

GpuHealth GpuMonitor::read() const {
  GpuHealth health;
  if (device_ == nullptr) return health;
  const Nvml& nvml = *nvml_;
  health.clock = number_of<int>(nvml, "nvmlDeviceGetClockInfo", device_, k_processors);
  health.memory_clock = number_of<int>(nvml, "nvmlDeviceGetClockInfo", device_, k_memory);
  health.temperature = number_of<int>(nvml, "nvmlDeviceGetTemperature", device_, k_of_the_chip);
  const double milliwatts = number_of<double>(nvml, "nvmlDeviceGetPowerUsage", device_);
  if (milliwatts >= 0) health.power = milliwatts / 1000;
  unsigned long long value = 0;
  int status = nvml.call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &value);
  health.throttling = wide_number_of(status, value);
  status = nvml.call("nvmlDeviceGetTotalEccErrors", device_, k_uncorrected, k_volatile, &value);
  health.uncorrected = wide_number_of(status, value);
  return health;
}

GpuLink GpuMonitor::link_to(const std::string& pci) const {
  GpuLink link;
  if (device_ == nullptr) return link;
  const Nvml::Device other = device_of(pci);
  if (other == nullptr || other == device_) return link;
  const NvLinks mine = links_of(*nvml_, device_, address_of(pci));
  const NvLinks others = links_of(*nvml_, other, address_of(nvml_->pci_of(device_)));
  link.nvlinks = std::max(mine.direct, others.direct) + std::min(mine.switched, others.switched);
  int status = -1;
  if (nvml_->call("nvmlDeviceGetP2PStatus", device_, other, k_can_read, &status) == Nvml::k_success)
    link.reads = status == 0 ? 1 : 0;  // NVML_P2P_STATUS_OK
  return link;
}

std::vector<std::string> throttle_words(std::uint64_t reasons) {
  std::vector<std::string> words;
  for (const auto& [bit, name] : k_reasons)
    if ((reasons & bit) != 0) words.emplace_back(name);
  return words;
}

std::string healths_json(std::span<const GpuHealth> by_rank) {
  auto all = ordered_json::array();
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const GpuHealth& health = by_rank[rank];
    ordered_json one{{"rank", rank},
                     {"clock_mhz", known(health.clock)},
                     {"memory_clock_mhz", known(health.memory_clock)},
                     {"temperature_c", known(health.temperature)},
                     {"power_w", known(health.power)},
                     {"throttle", nullptr},
                     {"ecc_uncorrected", known(health.uncorrected)}};
    if (health.throttling >= 0)
      one["throttle"] = throttle_words(static_cast<std::uint64_t>(health.throttling));
    all.push_back(std::move(one));
  }
  return all.dump();
}

}  // namespace dts::train
