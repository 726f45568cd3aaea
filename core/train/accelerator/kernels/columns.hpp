// SPDX-License-Identifier: Apache-2.0
// Kernels that add up the columns of a matrix.
#pragma once

#include "core/train/accelerator/kernels/elementwise.hpp"

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

  struct Shared {
    alignas(16) Four sums[k_threads];  // for one access of all four
  };

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

  // sums[run][column] = the sum over the run's rows of value(at, count, inputs), for `count`
  // columns of the row from offset `at` on, where inputs = read(at, count). `count` is less than
  // four only if not `aligned`. Reads `ahead` rows before it computes the values of any of them.
  template <int ahead, class Block, class Read, class Value>
  DTS_BLOCK_CODE void add_up(const Block& block,
                             Shared& shared,
                             float* sums,
                             bool aligned,
                             const Read& read,
                             const Value& value) const {
    const int begin = run_of(block) * rows_each;
    const int end = begin + rows_each < rows ? begin + rows_each : rows;
    block.each([&](int thread) {
      const int first = column(block, thread);
      const int mine = begin + thread / k_row_threads;
      Four sum;
      if (aligned && first < width)
        read_ahead<ahead>(
            mine,
            end,
            k_lanes_each,
            [&](int row) { return read(place(row, first), Four::k_count); },
            [&](int row, const auto& inputs) {
              sum = sum + value(place(row, first), Four::k_count, inputs);
            });
      else if (first < width)
        for (int row = mine; row < end; row += k_lanes_each) {
          const std::size_t at = place(row, first);
          sum = sum + value(at, width - first, read(at, width - first));
        }
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

// The rows per run for the gradient of a bias. Depends only on the shape, since the bits of the sum
// depend on it.
[[nodiscard]] inline int bias_rows_each(int rows, int width) {
  constexpr int k_fewest = 64;
  constexpr std::size_t k_enough = 384;  // blocks that keep a device busy
  int each = Columnwise::k_rows_each;
  while (each > k_fewest && Columnwise{rows, width, each}.blocks() < k_enough) each /= 2;
  return each;
}

// sums[run][column] = the sum of the column in a run of rows: the gradient of a bias.
template <class Value>
struct ColumnSums : Columnwise {
  const Value* x = nullptr;
  float* sums = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, x, row_begin(static_cast<std::size_t>(rows), width));
    accelerator::writes(visit, sums, sums_of_runs());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const bool aligned = rows_are_aligned(x);
    add_up<8>(
        block,
        shared,
        sums,
        aligned,
        [&](std::size_t at, int count) { return read_few(x + at, count, aligned); },
        [](std::size_t, int, const Four& few) { return few; });
  }
};

// d_x = d_y gelu'(x), like GeluBackward, and the sums of d_x as ColumnSums computes them: the
// gradient of a bias that was added to x. d_x may be d_y.
template <class Value>
struct GeluBackwardSums : Columnwise {
  const Value* x = nullptr;
  const Value* d_y = nullptr;
  Value* d_x = nullptr;
  float* sums = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    const std::size_t area = row_begin(static_cast<std::size_t>(rows), width);
    accelerator::reads(visit, x, area);
    accelerator::reads(visit, d_y, area);
    accelerator::writes(visit, d_x, area);
    accelerator::writes(visit, sums, sums_of_runs());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const bool aligned = rows_are_aligned(x) && rows_are_aligned(d_y) && rows_are_aligned(d_x);
    add_up<4>(
        block,
        shared,
        sums,
        aligned,
        [&](std::size_t at, int count) {
          return Inputs{read_few(x + at, count, aligned), read_few(d_y + at, count, aligned)};
        },
        [&](std::size_t at, int count, const Inputs& inputs) {
          Four d = inputs.d_y;
          for (int i = 0; i < Four::k_count; ++i) d.values[i] *= gelu_slope(inputs.x.values[i]);
          write_few(d_x + at, d.values, count, aligned);
          const auto written = stored<Value>(d.values);
          for (int i = 0; i < Four::k_count; ++i) d.values[i] = value_of(written.values[i]);
          return d;
        });
  }

 private:
  struct Inputs {
    Four x;
    Four d_y;
  };
};

}  // namespace dts::train::accelerator
