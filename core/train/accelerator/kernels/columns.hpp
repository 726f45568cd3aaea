// SPDX-License-Identifier: Apache-2.0
// Kernels that add up the columns of a matrix.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

namespace dts::train::accelerator {

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

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, x, row_begin(static_cast<std::size_t>(rows), width));
    accelerator::writes(visit, sums, static_cast<std::size_t>(width));
  }

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

}  // namespace dts::train::accelerator
