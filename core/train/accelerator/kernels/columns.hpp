// SPDX-License-Identifier: Apache-2.0
// Kernels that add up the columns of a matrix.
#pragma once

#include "core/train/accelerator/kernels/rounding.hpp"

namespace dts::train::accelerator {

// The columns of a matrix [rows][width], some columns of `rows_each` rows a block, with several
// threads to each: the sums of bias gradients and norms. What comes of it has a row for each run of
// rows, [runs()][width], whose columns are added up by one more kernel if there is more than one:
// a few hundred columns alone would leave most of a device idle.
struct Columnwise {
  static constexpr int k_threads = k_block_threads;
  static constexpr int k_columns = 32;  // of a block
  static constexpr int k_lanes_each = k_threads / k_columns;
  static constexpr int k_rows_each = 512;

  int rows = 0;
  int width = 0;
  int rows_each = k_rows_each;

  [[nodiscard]] DTS_CODE_OF_BOTH int runs() const { return (rows + rows_each - 1) / rows_each; }

  [[nodiscard]] DTS_CODE_OF_BOTH std::size_t blocks_of_run() const {
    return static_cast<std::size_t>((width + k_columns - 1) / k_columns);
  }

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(runs()) * blocks_of_run();
  }

  // Values of what comes of it.
  [[nodiscard]] std::size_t sums_of_runs() const {
    return row_begin(static_cast<std::size_t>(runs()), width);
  }

  // Calls work(row, place in the matrix) for the rows that a thread adds up of its column.
  template <class Block, class Work>
  DTS_BLOCK_CODE void for_each_row(const Block& block, int thread, const Work& work) const {
    const std::size_t at = column(block, thread);
    if (at >= static_cast<std::size_t>(width)) return;
    const int begin = static_cast<int>(block.index() / blocks_of_run()) * rows_each;
    const int end = begin + rows_each < rows ? begin + rows_each : rows;
    for (int row = begin + thread / k_columns; row < end; row += k_lanes_each)
      work(row, row_begin(static_cast<std::size_t>(row), width) + at);
  }

  template <class Block>
  [[nodiscard]] DTS_BLOCK_CODE std::size_t column(const Block& block, int thread) const {
    return block.index() % blocks_of_run() * k_columns +
           static_cast<std::size_t>(thread % k_columns);
  }

  // Where the sum of its run and column goes.
  template <class Block>
  [[nodiscard]] DTS_BLOCK_CODE std::size_t place(const Block& block, int thread) const {
    return row_begin(block.index() / blocks_of_run(), width) + column(block, thread);
  }

  // Whether it writes the sum of its column.
  template <class Block>
  [[nodiscard]] DTS_BLOCK_CODE bool writes(const Block& block, int thread) const {
    return thread < k_columns && column(block, thread) < static_cast<std::size_t>(width);
  }
};

// sums[run][column] = the sum of the column in a run of rows: the gradient of a bias.
template <class Value>
struct ColumnSums : Columnwise {
  struct Shared {
    float sums[k_threads];
  };

  const Value* x = nullptr;
  float* sums = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, x, row_begin(static_cast<std::size_t>(rows), width));
    accelerator::writes(visit, sums, sums_of_runs());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    block.each([&](int thread) {
      float sum = 0;
      for_each_row(block, thread, [&](int, std::size_t at) { sum += value_of(x[at]); });
      shared.sums[thread] = sum;
    });
    fold(block, shared.sums, Sum(), k_columns);
    block.each([&](int thread) {
      if (writes(block, thread)) sums[place(block, thread)] = shared.sums[thread];
    });
  }
};

}  // namespace dts::train::accelerator
