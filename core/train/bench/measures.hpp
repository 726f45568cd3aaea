// SPDX-License-Identifier: Apache-2.0
// What is measured on one node, without the others. Each function adds its values to `facts`, or a
// note that says why one is missing; takes about `seconds` on an idle machine; and is called from
// the only thread of a process of its own (phases.hpp).
#pragma once

#include "core/train/bench/facts.hpp"
#include "core/train/bench/options.hpp"

namespace dts::train::bench {

inline constexpr std::size_t k_mib = std::size_t{1} << 20;

// Cores, and the clock of each as a chain of additions shows it: the median, and the slowest.
void measure_cores(const BenchOptions& options, double seconds, RankFacts& facts);

// Products of matrices by oneDNN, fp32 and bf16: single-threaded primitives, as the trainer's, on
// one core at a time (the median) and on all of them at once (the sum).
void measure_gemm(const BenchOptions& options, double seconds, RankFacts& facts);

// Memory bandwidth of each NUMA node, by its own cores: triad, 24 bytes an element as STREAM
// counts.
void measure_memory(const BenchOptions& options, double seconds, RankFacts& facts);

// GPUs that the module of dttrain shows and that can be used; of each the bandwidth of copies from
// and to pinned memory of each NUMA node and within its own, and products of matrices; copies from
// each to each other; and a training step from the same state again and again, on all of them at
// once. Without a driver and without a sign of GPUs, nothing.
void measure_gpus(const BenchOptions& options, double seconds, RankFacts& facts);

// Write with fsync and read, past the page cache where possible, in the run's and in the scratch
// folder. Leaves nothing behind.
void measure_disk(const BenchOptions& options, double seconds, RankFacts& facts);

// A whole step of cnn2 from the same state again and again, with the widest instruction set.
void measure_steps(const BenchOptions& options, double seconds, RankFacts& facts);

}  // namespace dts::train::bench
