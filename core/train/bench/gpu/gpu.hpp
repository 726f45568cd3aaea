// SPDX-License-Identifier: Apache-2.0
// The parts of measure_gpus().
#pragma once

#include "core/train/bench/gpu/measured_gpu.hpp"
#include "core/train/bench/measures.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace dts::train::bench {

// The median of `work` in seconds, after a first run that does not count.
[[nodiscard]] Result<double> median_seconds(const MeasuredGpu::Timed& work, double budget);

// The rates of one open GPU alone: copies to and from memory of each of our NUMA nodes, copies
// within its memory, and products. `seconds` is the time for all.
[[nodiscard]] Result<std::vector<Measure>> rates_of(MeasuredGpu& gpu,
                                                    std::size_t bytes,
                                                    double seconds,
                                                    std::vector<std::string>& notes);

// FLOP/s of products of large matrices with these factors, on device `number`.
[[nodiscard]] Result<double> product_peak(const accelerator::DeviceModule& module,
                                          int number,
                                          dttrain_factors factors);

// The rates of copies from each of the open GPUs to each other.
void measure_peers(const std::vector<std::unique_ptr<MeasuredGpu>>& gpus,
                   std::size_t bytes,
                   double seconds,
                   RankFacts& facts);

// By NCCL, for messages of several sizes: the B/s that the slowest of these devices receives from
// the previous one while it sends to the next.
[[nodiscard]] Result<std::vector<Measure>> exchange_rates(const std::vector<int>& devices);

// A measure of a GPU.
[[nodiscard]] Measure measure_of(const MeasuredGpu& gpu,
                                 const char* key,
                                 double value,
                                 const char* unit);

// Repeats the step of BenchOptions::gpu_model with bf16 products from the same state, on these
// devices at once. Returns for each what it computed, or what went wrong.
[[nodiscard]] std::vector<Result<Steps>> repeat_steps(const BenchOptions& options,
                                                      const std::vector<int>& devices,
                                                      double seconds);

}  // namespace dts::train::bench
