// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/gpu/cuda.hpp"
#include "core/train/bench/measures.hpp"
#include "core/train/bench/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace dts::train::bench {
namespace {

struct Kind {
  const char* key;
  CudaCopies::Way way;
  double moved;  // bytes of memory a byte: a copy on the device reads and writes it
};

constexpr Kind k_copies[] = {{"h2d", CudaCopies::Way::to_device, 1},
                             {"d2h", CudaCopies::Way::to_host, 1},
                             {"hbm", CudaCopies::Way::on_device, 2}};

struct Budget {
  std::size_t bytes = 0;  // of a copy
  double seconds = 0;     // of each kind
};

// What NVIDIA's driver shows of the machine, whether or not it works.
bool has_driver() {
  if (!list_folder("/proc/driver/nvidia/gpus").empty()) return true;
  const std::vector<std::string> devices = list_folder("/dev");
  return std::any_of(devices.begin(), devices.end(), [](const std::string& name) {
    return name.starts_with("nvidia") && parse_number(name.substr(6));
  });
}

// The first of our cores in the GPU's NUMA node, where the pinned memory is to be; nullopt if there
// is none, or one node only.
std::optional<int> core_near(const std::string& pci) {
  const auto text = read_file(fmt::format("/sys/bus/pci/devices/{}/numa_node", pci));
  const auto number = text ? parse_number(trim(*text)) : std::nullopt;
  if (!number) return std::nullopt;  // -1: not known
  for (const NumaCores& node : by_numa(own_cores()))
    if (node.numa == static_cast<int>(*number)) return node.cores.front();
  return std::nullopt;
}

// Seconds of a copy: the median, after a first one that does not count.
Result<double> copy_seconds(CudaCopies& copies, CudaCopies::Way way, double budget) {
  constexpr std::size_t k_least_rounds = 5, k_most_rounds = 100;
  std::vector<double> rounds;
  DTS_TRY(copies.copy(way));
  const Clock::time_point start = Clock::now();
  while (rounds.size() < k_least_rounds ||
         (rounds.size() < k_most_rounds && seconds_since(start) < budget)) {
    DTS_ASSIGN(const double seconds, copies.copy(way));
    rounds.push_back(seconds);
  }
  return median(std::move(rounds));
}

Result<std::vector<Measure>> rates_of(const CudaDriver& driver,
                                      int ordinal,
                                      const GpuName& name,
                                      const Budget& budget) {
  std::optional<OnCore> near;
  if (const auto core = core_near(name.pci)) near.emplace(*core);
  CudaCopies copies(driver, ordinal);
  DTS_TRY(copies.begin(budget.bytes));
  std::vector<Measure> rates;
  for (const Kind& kind : k_copies) {
    DTS_ASSIGN(const double seconds, copy_seconds(copies, kind.way, budget.seconds));
    Measure rate{
        kind.key, per_second(kind.moved * static_cast<double>(budget.bytes), seconds), "B/s"};
    rate.path = name.pci;
    rate.gpu = ordinal;
    rate.model = name.model;
    rates.push_back(std::move(rate));
  }
  return rates;
}

}  // namespace

void measure_gpus(const BenchOptions& options, double seconds, RankFacts& facts) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool hidden = visible != nullptr && *visible == '\0';  // by whoever gave us none
  if (hidden && options.gpus == 0) return;
  // So that a number is the same slot on all nodes. No other thread reads the environment.
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
  const auto driver = CudaDriver::open();
  const auto count = driver ? driver->devices() : tl::unexpected<Error>(driver.error());
  if (!count || *count == 0) {
    if (options.gpus == 0 && !has_driver()) return;
    facts.add("gpus", 0, "");
    return facts.notes.push_back(count ? "CUDA finds no GPU"
                                       : "GPUs are not measured: " + count.error().message);
  }
  const Budget budget{(options.quick ? 64 : 256) * k_mib,
                      seconds / static_cast<double>(*count) / std::size(k_copies)};
  std::vector<Measure> all;
  int working = 0;
  for (int ordinal = 0; ordinal < *count; ++ordinal) {
    const auto name = driver->name_of(ordinal);
    auto rates =
        name ? rates_of(*driver, ordinal, *name, budget) : tl::unexpected<Error>(name.error());
    if (!rates) {
      facts.notes.push_back(fmt::format("GPU {}{}: {}",
                                        ordinal,
                                        name ? fmt::format(" ({})", name->pci) : "",
                                        rates.error().message));
      continue;
    }
    ++working;
    all.insert(all.end(), rates->begin(), rates->end());
  }
  facts.add("gpus", working, "");
  facts.measures.insert(facts.measures.end(), all.begin(), all.end());
}

}  // namespace dts::train::bench
