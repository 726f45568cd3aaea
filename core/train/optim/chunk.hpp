// SPDX-License-Identifier: Apache-2.0
// Input and result of the optimiser's step on one chunk of parameters (update/chunk_grid.hpp) on an
// accelerator. Plain data, with the same layout on host and device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dts::train {

// How weights change (optimizer_table.cpp).
enum class UpdateRule { sgd, nesterov, adam, lamb };

// A run of one tensor's floats.
struct OwnChunk {
  std::size_t begin = 0;    // offset in all parameters
  std::size_t place = 0;    // offset in those that the rank owns
  std::uint32_t count = 0;  // a multiple of 16
  std::uint32_t decays = 0;
};

// The factors of one step's arithmetic; each rule reads only some of them.
struct UpdateFactors {
  float scale = 1;  // of the gradient
  float rate = 0;
  float decay = 0;
  float keep = 1;  // for a weight that decays: 1 - rate decay
  float momentum = 0;
  float beta1 = 0;
  float beta2 = 0;
  float rest1 = 0;  // 1 - beta1
  float rest2 = 0;
  float epsilon = 0;
  float unbias1 = 1;
  float unbias2 = 1;
};

inline constexpr std::size_t k_most_chunk_moments = 2;

// Sums of squares and checksums (device/kernels.hpp) of a chunk.
struct ChunkReport {
  double gradient_squares = 0;  // before `scale`
  double weight_squares = 0;    // before the step
  double next_squares = 0;    // of the weights after it, or of directions (OptimizerRow::by_tensor)
  std::uint64_t weights = 0;  // before the step, as moments
  std::uint64_t moments[k_most_chunk_moments] = {};
  std::uint64_t next_weights = 0;
  std::uint64_t next_moments[k_most_chunk_moments] = {};
};

}  // namespace dts::train
