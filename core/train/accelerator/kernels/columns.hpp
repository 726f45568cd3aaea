// SPDX-License-Identifier: Apache-2.0
// Kernels that add up the columns of a matrix.
#pragma once

#include "core/train/accelerator/kernels/fours.hpp"

namespace dts::train::accelerator {

// The base for sums over the columns of a matrix [rows][width], as for the gradients of biases and
// norms. A block adds up some columns of `rows_each` rows, with several threads per four columns.
// The result has a row for each run of rows, [runs()][width]; if there are several, another kernel
// adds up its columns. Without runs, a few hundred columns would leave most of a device idle.
struct Columnwise {
  static constexpr int k_threads = k_block_threads;
  static constexpr int k_row_threads = 32;                         // threads side by side
  static constexpr int k_columns = k_row_threads * Four::k_count;  // per block
  static constexpr int k_lanes_each = k_threads / k_row_threads;
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

  // Number of values of the result.
  [[nodiscard]] std::size_t sums_of_runs() const {
    return row_begin(static_cast<std::size_t>(runs()), width);
  }

  // The first of a thread's four columns; at or beyond `width` if the thread has none.
  template <class Block>
  [[nodiscard]] DTS_BLOCK_CODE int column(const Block& block, int thread) const {
    return static_cast<int>(block.index() % blocks_of_run()) * k_columns +
           thread % k_row_threads * Four::k_count;
  }

  template <class Block>
  [[nodiscard]] DTS_BLOCK_CODE int run_of(const Block& block) const {
    return static_cast<int>(block.index() / blocks_of_run());
  }

  // The offset of a column in a row, or in a run's sums.
  [[nodiscard]] DTS_BLOCK_CODE std::size_t place(int row, int column) const {
    return row_begin(static_cast<std::size_t>(row), width) + static_cast<std::size_t>(column);
  }

  // Whether all fours of an array's rows are aligned for a single memory access.
  template <class Value>
  [[nodiscard]] DTS_BLOCK_CODE bool rows_are_aligned(const Value* first) const {
    return width % Four::k_count == 0 && is_aligned<Four::k_count>(first);
  }
};

// sums[run][column] = the sum of the column in a run of rows: the gradient of a bias.
template <class Value>
struct ColumnSums : Columnwise {
  struct Shared {
    Four sums[k_threads];
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
    const int begin = run_of(block) * rows_each;
    const int end = begin + rows_each < rows ? begin + rows_each : rows;
    block.each([&](int thread) {
      const int first = column(block, thread);
      Four sum;
      constexpr int k_ahead = 8;
      const int mine = begin + thread / k_row_threads;
      const auto add = [&](int, const Four& few) { sum = sum + few; };
      if (rows_are_aligned(x) && first < width)
        read_ahead<k_ahead>(
            mine,
            end,
            k_lanes_each,
            [&](int row) { return read_four(x + place(row, first), Four::k_count); },
            add);
      else
        for (int row = mine; row < end; row += k_lanes_each)
          add(row, read_few(x + place(row, first), width - first, false));
      shared.sums[thread] = sum;
    });
    fold(block, shared.sums, Sum(), k_row_threads);
    block.each([&](int thread) {
      const int first = column(block, thread);
      if (thread < k_row_threads && first < width)
        write_few(sums + place(run_of(block), first),
                  shared.sums[thread].values,
                  width - first,
                  rows_are_aligned(sums));
    });
  }
};

}  // namespace dts::train::accelerator
