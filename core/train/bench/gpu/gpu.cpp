// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/gpu/gpu.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace dts::train::bench {
namespace {

// Whether there are signs of NVIDIA's driver, working or not.
bool has_driver() {
  if (!list_folder("/proc/driver/nvidia/gpus").empty()) return true;
  const std::vector<std::string> devices = list_folder("/dev");
  return std::any_of(devices.begin(), devices.end(), [](const std::string& name) {
    return name.starts_with("nvidia") && parse_number(name.substr(6));
  });
}

class Gpus {
 public:
  Gpus(const BenchOptions& options, const accelerator::DeviceModule& module, int count)
      : options_(options), module_(module), count_(count) {}

  void measure(double seconds, RankFacts& facts) {
    // It matters more that a GPU computes correctly than how fast it is.
    const double for_rates = seconds / 6;
    measure_rates(for_rates / 2, facts);
    if (gpus_.size() > 1) measure_peers(gpus_, bytes(), for_rates / 2, facts);
    std::vector<GpuSteps> named;
    for (const auto& gpu : gpus_)
      named.push_back({gpu->number(), gpu->facts().name, gpu->facts().pci, {}});
    gpus_.clear();
    if (named.size() > 1) measure_exchanges(named, facts);
    measure_steps(std::move(named), seconds - for_rates, facts);
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return (options_.quick ? 64 : 256) * k_mib; }

  static void complain(const std::string& gpu, const Error& error, RankFacts& facts) {
    facts.notes.push_back(fmt::format("{}: {}", gpu, error.message));
  }

  void measure_rates(double seconds, RankFacts& facts) {
    for (int number = 0; number < count_; ++number) {
      auto gpu = std::make_unique<MeasuredGpu>(module_, number);
      const auto opened = gpu->open(bytes());
      auto rates = opened ? rates_of(*gpu, bytes(), seconds / count_, facts.notes)
                          : tl::unexpected<Error>(opened.error());
      if (!rates) {
        complain(fmt::format("GPU {}{}", number, gpu->place()), rates.error(), facts);
        continue;
      }
      facts.measures.insert(facts.measures.end(), rates->begin(), rates->end());
      gpus_.push_back(std::move(gpu));
    }
  }

  static void measure_exchanges(const std::vector<GpuSteps>& named, RankFacts& facts) {
    std::vector<int> numbers;
    for (const GpuSteps& one : named) numbers.push_back(one.gpu);
    const auto rates = exchange_rates(numbers);
    if (!rates) return complain("NCCL between the GPUs is not measured", rates.error(), facts);
    facts.measures.insert(facts.measures.end(), rates->begin(), rates->end());
  }

  static void add_rate(const GpuSteps& one, RankFacts& facts) {
    Measure rate{"gpu_step", one.steps.tokens, "token/s"};
    rate.path = one.path;
    rate.gpu = one.gpu;
    rate.model = one.model;
    facts.measures.push_back(std::move(rate));
  }

  void measure_steps(std::vector<GpuSteps> named, double seconds, RankFacts& facts) {
    std::vector<int> numbers;
    for (const GpuSteps& one : named) numbers.push_back(one.gpu);
    auto found = repeat_steps(options_, numbers, seconds);
    int working = 0;
    int fewest = options_.gpu_repeats();
    for (std::size_t i = 0; i < named.size(); ++i) {
      GpuSteps& one = named[i];
      if (!found[i]) {
        complain(fmt::format("GPU {} ({}): the training step", one.gpu, one.path),
                 found[i].error(),
                 facts);
        continue;
      }
      ++working;
      one.steps = *std::move(found[i]);
      fewest = std::min(fewest, one.steps.repeats);
      if (one.steps.tokens > 0) add_rate(one, facts);
      facts.gpu_steps.push_back(std::move(one));
    }
    if (fewest < options_.gpu_repeats())
      facts.notes.push_back(fmt::format("{} repeats of the step on GPUs instead of {}: it is slow",
                                        fewest,
                                        options_.gpu_repeats()));
    facts.add("gpus", working, "");
  }

  const BenchOptions& options_;
  const accelerator::DeviceModule& module_;
  int count_;
  std::vector<std::unique_ptr<MeasuredGpu>> gpus_;  // the GPUs whose rates are known
};

}  // namespace

void measure_gpus(const BenchOptions& options, double seconds, RankFacts& facts) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool hidden = visible != nullptr && *visible == '\0';  // by whoever assigned none to us
  if (hidden && options.gpus == 0) return;
  const auto module = accelerator::load_device_module("cuda");
  const auto count =
      module ? accelerator::count_devices(*module) : tl::unexpected<Error>(module.error());
  if (count) return Gpus(options, *module, *count).measure(seconds, facts);
  if (options.gpus == 0 && !has_driver()) return;
  facts.notes.push_back("GPUs are not measured: " + count.error().message);
  // Without a module the number of GPUs is unknown.
  if (module || options.gpus > 0) facts.add("gpus", 0, "");
}

}  // namespace dts::train::bench
