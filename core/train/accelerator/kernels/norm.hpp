// SPDX-License-Identifier: Apache-2.0
// Kernels of layer normalisation.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

#include <cmath>

namespace dts::train::accelerator {

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, of each row; keeps mean and
// inverse = 1 / sqrt(variance + epsilon).
struct LayerNormForward : Rowwise {
  struct Shared {
    float sums[k_threads];
    float squares[k_threads];
  };

  float epsilon = 0;
  const float* x = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float* y = nullptr;
  float* mean = nullptr;
  float* inverse = nullptr;

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const std::size_t row = block.index();
    const float* const from = x + row_begin(row, width);
    float* const to = y + row_begin(row, width);
    const auto columns = static_cast<float>(width);
    block.each([&](int thread) {
      float sum = 0;
      strided<k_threads>(thread, width, [&](int i) { sum += from[i]; });
      shared.sums[thread] = sum;
    });
    fold(block, shared.sums, Sum());
    block.each([&](int thread) {
      const float middle = shared.sums[0] / columns;
      float sum = 0;
      strided<k_threads>(thread, width, [&](int i) {
        const float off = from[i] - middle;
        sum += off * off;
      });
      shared.squares[thread] = sum;
    });
    fold(block, shared.squares, Sum());
    block.each([&](int thread) {
      const float middle = shared.sums[0] / columns;
      const float scale = 1.0F / sqrtf(shared.squares[0] / columns + epsilon);
      if (thread == 0) mean[row] = middle;
      if (thread == 0) inverse[row] = scale;
      strided<k_threads>(
          thread, width, [&](int i) { to[i] = (from[i] - middle) * scale * gamma[i] + beta[i]; });
    });
  }
};

// The gradient of x, which is added to d_x or overwrites it.
struct LayerNormBackward : Rowwise {
  struct Shared {
    float levels[k_threads];
    float slopes[k_threads];
  };

  const float* x = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* inverse = nullptr;
  const float* d_y = nullptr;
  float* d_x = nullptr;
  bool adds = false;

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const std::size_t row = block.index();
    const std::size_t begin = row_begin(row, width);
    const float* const from = x + begin;
    const float* const d_from = d_y + begin;
    float* const to = d_x + begin;
    const float middle = mean[row];
    const float scale = inverse[row];
    const auto columns = static_cast<float>(width);
    block.each([&](int thread) {
      float level = 0;
      float slope = 0;
      strided<k_threads>(thread, width, [&](int i) {
        const float d = d_from[i] * gamma[i];
        level += d;
        slope += d * ((from[i] - middle) * scale);
      });
      shared.levels[thread] = level;
      shared.slopes[thread] = slope;
    });
    fold(block, shared.levels, Sum());
    fold(block, shared.slopes, Sum());
    block.each([&](int thread) {
      const float level = shared.levels[0] / columns;
      const float slope = shared.slopes[0] / columns;
      strided<k_threads>(thread, width, [&](int i) {
        const float normal = (from[i] - middle) * scale;
        const float d = (d_from[i] * gamma[i] - level - normal * slope) * scale;
        to[i] = adds ? to[i] + d : d;
      });
    });
  }
};

// The columns of a matrix [rows][width], some of them a block, with several threads to each: the
// sums of bias gradients and norms.
struct Columnwise {
  static constexpr int k_threads = k_block_threads;
  static constexpr int k_columns = 32;  // of a block
  static constexpr int k_lanes_each = k_threads / k_columns;

  int rows = 0;
  int width = 0;

  [[nodiscard]] std::size_t blocks() const {
    return blocks_of(static_cast<std::size_t>(width), k_columns);
  }

  // Calls work(row, place in the matrix) for the rows that a thread adds up of its column.
  template <class Block, class Work>
  DTS_BLOCK_CODE void for_each_row(const Block& block, int thread, const Work& work) const {
    const std::size_t at = column(block, thread);
    if (at >= static_cast<std::size_t>(width)) return;
    for (int row = thread / k_columns; row < rows; row += k_lanes_each)
      work(row, row_begin(static_cast<std::size_t>(row), width) + at);
  }

  template <class Block>
  [[nodiscard]] DTS_BLOCK_CODE std::size_t column(const Block& block, int thread) const {
    return block.index() * k_columns + static_cast<std::size_t>(thread % k_columns);
  }

  // Whether it writes the sum of its column.
  template <class Block>
  [[nodiscard]] DTS_BLOCK_CODE bool writes(const Block& block, int thread) const {
    return thread < k_columns && column(block, thread) < static_cast<std::size_t>(width);
  }
};

// sums[column] = the sum of the column: the gradient of a bias.
struct ColumnSums : Columnwise {
  struct Shared {
    float sums[k_threads];
  };

  const float* x = nullptr;
  float* sums = nullptr;

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    block.each([&](int thread) {
      float sum = 0;
      for_each_row(block, thread, [&](int, std::size_t at) { sum += x[at]; });
      shared.sums[thread] = sum;
    });
    fold(block, shared.sums, Sum(), k_columns);
    block.each([&](int thread) {
      if (writes(block, thread)) sums[column(block, thread)] = shared.sums[thread];
    });
  }
};

// The gradients of gamma and beta.
struct NormGradients : Columnwise {
  struct Shared {
    float gammas[k_threads];
    float betas[k_threads];
  };

  const float* x = nullptr;
  const float* mean = nullptr;
  const float* inverse = nullptr;
  const float* d_y = nullptr;
  float* d_gamma = nullptr;
  float* d_beta = nullptr;

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    block.each([&](int thread) {
      float of_gamma = 0;
      float of_beta = 0;
      for_each_row(block, thread, [&](int row, std::size_t at) {
        of_gamma += d_y[at] * ((x[at] - mean[row]) * inverse[row]);
        of_beta += d_y[at];
      });
      shared.gammas[thread] = of_gamma;
      shared.betas[thread] = of_beta;
    });
    fold(block, shared.gammas, Sum(), k_columns);
    fold(block, shared.betas, Sum(), k_columns);
    block.each([&](int thread) {
      if (!writes(block, thread)) return;
      d_gamma[column(block, thread)] = shared.gammas[thread];
      d_beta[column(block, thread)] = shared.betas[thread];
    });
  }
};

}  // namespace dts::train::accelerator
