// SPDX-License-Identifier: Apache-2.0
// The parts of measure_gpus().
#pragma once

#include "core/train/bench/gpu/measured_gpu.hpp"
#include "core/train/bench/measures.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace dts::train::bench {

// Seconds of `work`: the median, after a first time that does not count.
[[nodiscard]] Result<double> median_seconds(const MeasuredGpu::Timed& work, double budget);

// The rates of one GPU alone, which stays open: copies from and to memory of each of our NUMA
// nodes, within its own, and products. `seconds` for all of them.
[[nodiscard]] Result<std::vector<Measure>> rates_of(MeasuredGpu& gpu,
                                                    std::size_t bytes,
                                                    double seconds,
                                                    std::vector<std::string>& notes);

// FLOP/s of products of large matrices with such factors, on the device of that number.
[[nodiscard]] Result<double> product_peak(const accelerator::DeviceModule& module,
                                          int number,
                                          dttrain_factors factors);

// Of copies from each of the open ones to each other.
void measure_peers(const std::vector<std::unique_ptr<MeasuredGpu>>& gpus,
                   std::size_t bytes,
                   double seconds,
                   RankFacts& facts);

// Bytes a second that each of the devices of these numbers receives from the one before while it
// sends to the next, by NCCL, of the slowest: for messages of several sizes.
[[nodiscard]] Result<std::vector<Measure>> exchange_rates(const std::vector<int>& devices);

// A GPU's measure.
[[nodiscard]] Measure measure_of(const MeasuredGpu& gpu,
                                 const char* key,
                                 double value,
                                 const char* unit);

// The step of BenchOptions::gpu_model with products of bf16 from the same state again and again, on
// the devices of these numbers all at once: of each one what it computed, or what went wrong.
[[nodiscard]] std::vector<Result<Steps>> repeat_steps(const BenchOptions& options,
                                                      const std::vector<int>& devices,
                                                      double seconds);

}  // namespace dts::train::bench
