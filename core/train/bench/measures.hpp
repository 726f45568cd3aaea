// SPDX-License-Identifier: Apache-2.0
// Measurements on one node. Each function adds its values to `facts`, or a note that says why one
// is missing. It takes about `seconds` on an idle machine, and must be called on the only thread of
// a process of its own (phases.hpp).
#pragma once

#include "core/train/bench/facts.hpp"
#include "core/train/bench/options.hpp"

namespace dts::train::bench {

inline constexpr std::size_t k_mib = std::size_t{1} << 20;

// The number of cores, and their clock rates, measured by chains of additions: median and lowest.
void measure_cores(const BenchOptions& options, double seconds, RankFacts& facts);

// Matrix products by oneDNN in fp32 and bf16, with single-threaded primitives like the trainer's:
// on one core at a time (median), and on all cores at once (sum).
void measure_gemm(const BenchOptions& options, double seconds, RankFacts& facts);

// Memory bandwidth of each NUMA node from its own cores: the triad, with 24 bytes per element, as
// STREAM counts.
void measure_memory(const BenchOptions& options, double seconds, RankFacts& facts);

// The GPUs that the device module finds and can use. For each: bandwidth of copies to and from
// pinned memory of each NUMA node, bandwidth within its memory, and matrix products; copies from
// each to each other; and a training step, repeated from the same state, on all at once. Measures
// nothing without a driver and other signs of GPUs.
void measure_gpus(const BenchOptions& options, double seconds, RankFacts& facts);

// Writes with fsync and reads, bypassing the page cache if possible, in the folders of the run and
// of scratch data. Leaves nothing behind.
void measure_disk(const BenchOptions& options, double seconds, RankFacts& facts);

// A complete step of cnn2, repeated from the same state, with the widest instruction set.
void measure_steps(const BenchOptions& options, double seconds, RankFacts& facts);

}  // namespace dts::train::bench
