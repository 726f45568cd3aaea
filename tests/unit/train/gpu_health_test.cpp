// SPDX-License-Identifier: Apache-2.0
// What NVML reports about a GPU while it computes, with a simulated library, and the peak rates of
// cards.
#include "core/train/telemetry/gpu_health.hpp"

#include "core/train/telemetry/card_peaks.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

using namespace dts::train;

TEST_CASE("clocks, temperature, power, errors and what slows a GPU down are read") {
  ::unsetenv("NVML_FIXTURE_NODE");
  const GpuMonitor broken("0000:3e:00.0", NVML_FIXTURE);
  const GpuHealth health = broken.read();
  CHECK(health.clock == 1110);
  CHECK(health.memory_clock == 1215);
  CHECK(health.temperature == 43);
  CHECK(health.power == 250.5);
  CHECK(health.uncorrected == 5);
  CHECK(throttle_words(static_cast<std::uint64_t>(health.throttling)) ==
        std::vector<std::string>{"hardware slowdown", "hardware thermal slowdown"});
  const GpuHealth sound = GpuMonitor("0000:3b:00.0", NVML_FIXTURE).read();
  CHECK(sound.uncorrected == -1);  // the card does not count them
  CHECK(throttle_words(static_cast<std::uint64_t>(sound.throttling)).empty());  // it is idle
  const auto json = nlohmann::json::parse(healths_json(std::array{sound, health}));
  CHECK(json[0]["ecc_uncorrected"].is_null());
  CHECK(json[0]["throttle"] == nlohmann::json::array());
  CHECK(json[1]["rank"] == 1);
  CHECK(json[1]["throttle"].size() == 2);
  CHECK(json[1]["power_w"] == 250.5);
}

TEST_CASE("without NVML, or of a GPU that it does not know, nothing is known") {
  for (const auto& [pci, library] : {std::pair{"0000:3b:00.0", "/nowhere/libnvidia-ml.so.1"},
                                     {"0000:99:00.0", NVML_FIXTURE},
                                     {"", NVML_FIXTURE}}) {
    const GpuMonitor monitor(pci, library);
    CHECK(monitor.read().clock == -1);
    CHECK(monitor.read().throttling == -1);
    CHECK(monitor.link_to("0000:3c:00.0").nvlinks == -1);
    const auto json = nlohmann::json::parse(healths_json(std::array{monitor.read()}));
    for (const char* const name : {"clock_mhz", "temperature_c", "power_w", "throttle"})
      CHECK(json[0][name].is_null());
  }
}

TEST_CASE("NVLinks to another GPU are counted, direct ones and by way of a switch") {
  ::setenv("NVML_FIXTURE_NODE", "mesh", 1);
  const GpuMonitor first("0000:3b:00.0", NVML_FIXTURE);
  CHECK(first.link_to("0000:3c:00.0").nvlinks == 2);
  CHECK(first.link_to("0000:3c:00.0").reads == 1);
  CHECK(first.link_to("0000:3e:00.0").nvlinks == 0);
  CHECK(first.link_to("0000:3e:00.0").reads == 0);
  ::setenv("NVML_FIXTURE_NODE", "switch", 1);
  CHECK(GpuMonitor("0000:3b:00.0", NVML_FIXTURE).link_to("0000:3e:00.0").nvlinks == 2);
  ::unsetenv("NVML_FIXTURE_NODE");
}

TEST_CASE("a card's peak is that of its own data sheet, and unknown without one") {
  CHECK(card_peak("NVIDIA H100 80GB HBM3")->bf16 == 989.5e12);
  CHECK(card_peak("NVIDIA H100 PCIe")->bf16 == 756.5e12);
  CHECK(card_peak("NVIDIA A100-SXM4-40GB")->tf32 == 156e12);
  CHECK(card_peak("NVIDIA A100 80GB PCIe")->fp32 == 19.5e12);
  CHECK(card_peak("NVIDIA L4")->bf16 == 121e12);
  CHECK(card_peak("NVIDIA H200 NVL")->bf16 < card_peak("NVIDIA H200")->bf16);
  for (const char* const name :
       {"", "NVIDIA L400", "NVIDIA GeForce RTX 4090", "Tesla V100", "A100"})
    CHECK_FALSE(card_peak(name));
}
