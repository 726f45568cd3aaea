// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/gpu/gpu.hpp"
#include "core/train/bench/timing.hpp"

#include <fmt/format.h>

#include <optional>

namespace dts::train::bench {
namespace {

// The matrices of these products are at most as large as a piece.
struct RatedProduct {
  const char* key;
  dttrain_factors factors;
};

constexpr RatedProduct k_products[] = {{"gpu_bf16", DTTRAIN_BF16}, {"gpu_fp32", DTTRAIN_FP32}};

constexpr double k_busy = 1e-3;  // s

// The side of square matrices whose product takes a millisecond, as far as they fit into a piece.
Result<int> busy_side(MeasuredGpu& gpu, std::size_t bytes, dttrain_factors factors) {
  constexpr int k_least = 128, k_most = 8192;
  int side = k_least;
  const auto fits = [&](int larger) {
    const auto count = static_cast<std::size_t>(larger);
    return larger <= k_most && count * count * sizeof(float) <= bytes;
  };
  for (;; side *= 2) {
    DTS_TRY(gpu.multiply(side, factors));  // also chooses an algorithm
    DTS_ASSIGN(const double seconds, gpu.multiply(side, factors));
    if (seconds >= k_busy || !fits(side * 2)) return side;
  }
}

struct Rate {
  double flops = 0;    // per second
  double seconds = 0;  // per product
};

Result<Rate> product_rate(MeasuredGpu& gpu,
                          dttrain_factors factors,
                          std::size_t bytes,
                          double seconds) {
  DTS_ASSIGN(const int side, busy_side(gpu, bytes, factors));
  DTS_ASSIGN(const double each,
             median_seconds([&] { return gpu.multiply(side, factors); }, seconds));
  return Rate{per_second(2.0 * side * side * side, each), each};
}

// For host memory on one NUMA node; nullopt if there is only one.
Result<void> copy_rates(MeasuredGpu& gpu,
                        const NodePages& pages,
                        std::optional<int> numa,
                        double seconds,
                        std::vector<Measure>& rates) {
  const auto bytes = static_cast<double>(pages.size());
  DTS_ASSIGN(const double to, median_seconds([&] { return gpu.copy_to(pages); }, seconds / 2));
  DTS_ASSIGN(const double back, median_seconds([&] { return gpu.copy_back(pages); }, seconds / 2));
  for (const auto& [key, each] : {std::pair{"h2d", to}, std::pair{"d2h", back}}) {
    rates.push_back(measure_of(gpu, key, per_second(bytes, each), "B/s"));
    rates.back().numa = numa;
  }
  return {};
}

Result<void> copy_rates_of_node(MeasuredGpu& gpu,
                                const NumaCores& node,
                                bool is_only,
                                std::size_t bytes,
                                double seconds,
                                std::vector<Measure>& rates,
                                std::vector<std::string>& notes) {
  const OnCore near(node.cores.front());
  const std::optional<int> numa = is_only ? std::nullopt : std::optional(node.numa);
  const NodePages pages(bytes, numa);
  if (pages.data() == nullptr)
    return fail(Errc::io, fmt::format("no {} MiB of memory to copy from", bytes / k_mib));
  if (const auto there = pages.numa(); numa && there && *there != *numa)
    notes.push_back(fmt::format(
        "GPU {}{}: the memory to copy from is on NUMA node {}, not {}: too little is free there",
        gpu.number(),
        gpu.place(),
        *there,
        *numa));
  DTS_TRY(gpu.pin(pages));
  Result<void> done = copy_rates(gpu, pages, numa, seconds, rates);
  gpu.unpin(pages);
  return done;
}

}  // namespace

Result<double> median_seconds(const MeasuredGpu::Timed& work, double budget) {
  constexpr std::size_t k_least_rounds = 5, k_most_rounds = 100;
  std::vector<double> rounds;
  DTS_TRY(work());
  const Clock::time_point start = Clock::now();
  while (rounds.size() < k_least_rounds ||
         (rounds.size() < k_most_rounds && seconds_since(start) < budget)) {
    DTS_ASSIGN(const double seconds, work());
    rounds.push_back(seconds);
  }
  return median(std::move(rounds));
}

Measure measure_of(const MeasuredGpu& gpu, const char* key, double value, const char* unit) {
  Measure measure{key, value, unit};
  measure.path = gpu.facts().pci;
  measure.gpu = gpu.number();
  measure.model = gpu.facts().name;
  return measure;
}

Result<std::vector<Measure>> rates_of(MeasuredGpu& gpu,
                                      std::size_t bytes,
                                      double seconds,
                                      std::vector<std::string>& notes) {
  std::vector<Measure> rates;
  const std::vector<NumaCores> nodes = by_numa(own_cores());
  const double each = seconds / static_cast<double>(nodes.size() + 1 + std::size(k_products));
  for (const NumaCores& node : nodes)
    DTS_TRY(copy_rates_of_node(gpu, node, nodes.size() == 1, bytes, each, rates, notes));
  DTS_ASSIGN(const double within, median_seconds([&] { return gpu.copy_within(); }, each));
  // Each byte is read and written.
  rates.push_back(
      measure_of(gpu, "hbm", per_second(2 * static_cast<double>(bytes), within), "B/s"));
  for (const RatedProduct& product : k_products) {
    DTS_ASSIGN(const Rate rate, product_rate(gpu, product.factors, bytes, each));
    rates.push_back(measure_of(gpu, product.key, rate.flops, "FLOP/s"));
  }
  return rates;
}

// Starts with small matrices, which are enough for a slow device.
Result<double> product_peak(const accelerator::DeviceModule& module,
                            int number,
                            dttrain_factors factors) {
  constexpr double k_budget = 0.03;  // s
  double flops = 0;
  for (const std::size_t bytes : {k_mib, 256 * k_mib}) {
    MeasuredGpu gpu(module, number);
    DTS_TRY(gpu.open(bytes));
    const NodePages pages(bytes, std::nullopt);
    if (pages.data() == nullptr) return fail(Errc::io, "no memory to copy from");
    DTS_TRY(gpu.pin(pages));
    Result<double> filled = gpu.copy_to(pages);
    gpu.unpin(pages);
    if (filled) filled = gpu.copy_within();
    if (!filled) return filled;
    DTS_ASSIGN(const Rate rate, product_rate(gpu, factors, bytes, k_budget));
    flops = rate.flops;
    if (rate.seconds >= k_busy) break;
  }
  return flops;
}

void measure_peers(const std::vector<std::unique_ptr<MeasuredGpu>>& gpus,
                   std::size_t bytes,
                   double seconds,
                   RankFacts& facts) {
  const std::size_t pairs = gpus.size() * (gpus.size() - 1);
  std::string apart;  // pairs whose copies go through the host
  const auto rate_of = [&](MeasuredGpu& to, const MeasuredGpu& from) -> Result<double> {
    DTS_ASSIGN(const bool is_direct, to.reaches(from));
    if (!is_direct)
      apart += fmt::format("{}{} from {}", apart.empty() ? "" : ", ", to.number(), from.number());
    DTS_ASSIGN(
        const double each,
        median_seconds([&] { return to.copy_from(from); }, seconds / static_cast<double>(pairs)));
    return per_second(static_cast<double>(bytes), each);
  };
  for (const auto& to : gpus)
    for (const auto& from : gpus) {
      if (to == from) continue;
      const auto rate = rate_of(*to, *from);
      if (!rate) {
        facts.notes.push_back(fmt::format("GPU {}{}: copies from GPU {}: {}",
                                          to->number(),
                                          to->place(),
                                          from->number(),
                                          rate.error().message));
        continue;
      }
      facts.measures.push_back(measure_of(*to, "peer", *rate, "B/s"));
      facts.measures.back().peer = from->number();
    }
  if (!apart.empty())
    facts.notes.push_back("copies between GPUs go through the host's memory: " + apart);
}

}  // namespace dts::train::bench
