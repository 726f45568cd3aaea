// SPDX-License-Identifier: Apache-2.0
// The part of a product that a thread keeps if tensor cores compute it (tensor_instruction.hpp).
#pragma once

#include "core/train/accelerator/kernels/products/tiles.hpp"

namespace dts::train::accelerator {

// A thread's part of a product: in two rows, eight apart, two neighbours in each eight of its
// warp's columns. `warps_per_row` warps share a row.
template <int warps_per_row>
struct TensorPartOf {
  static constexpr int k_step = 8;  // from one row, or pair of columns, to the next
  static constexpr int k_blocks = k_tile / warps_per_row / k_step;  // of eight columns
  static constexpr int k_rows = 2;
  static constexpr int k_row_lanes = 4 * warps_per_row;

  float sums[k_blocks][4];  // in each block: two values of one row, then two of the other

  [[nodiscard]] DTS_BLOCK_CODE static int warp_row(int thread) {
    return thread / (32 * warps_per_row) * 16;
  }

  [[nodiscard]] DTS_BLOCK_CODE static int warp_column(int thread) {
    return thread / 32 % warps_per_row * (k_tile / warps_per_row);
  }

  [[nodiscard]] DTS_BLOCK_CODE static int row(int thread, int i) {
    return warp_row(thread) + thread % 32 / 4 + i * k_step;
  }

  // The thread's index among those that share its rows.
  [[nodiscard]] DTS_BLOCK_CODE static int row_lane(int thread) {
    return thread / 32 % warps_per_row * 4 + thread % 4;
  }

  [[nodiscard]] DTS_BLOCK_CODE static int first_column(int thread) {
    return warp_column(thread) + thread % 4 * 2;
  }

  // Equal for all threads of a warp, which computes together.
  [[nodiscard]] DTS_BLOCK_CODE static bool is_outside(int thread, const TileSize& size) {
    return warp_row(thread) >= size.rows || warp_column(thread) >= size.columns;
  }

  DTS_BLOCK_CODE void clear() {
    for (auto& block : sums)
      for (float& value : block) value = 0;
  }

  // Calls work(column, value) for each value of row number i.
  template <class Work>
  DTS_BLOCK_CODE void for_each_of_row(int thread, int i, const Work& work) {
    for (int block = 0; block < k_blocks; ++block)
      for (int j = 0; j < 2; ++j)
        work(first_column(thread) + block * k_step + j, sums[block][2 * i + j]);
  }

  // The same with the value of `other`: work(column, value, other value).
  template <class Work>
  DTS_BLOCK_CODE void for_each_of_row(int thread,
                                      int i,
                                      const TensorPartOf& other,
                                      const Work& work) {
    for (int block = 0; block < k_blocks; ++block)
      for (int j = 0; j < 2; ++j)
        work(first_column(thread) + block * k_step + j,
             sums[block][2 * i + j],
             other.sums[block][2 * i + j]);
  }

  // Writes row number i of `columns` values to `row`, each as value_at(value).
  template <class Value, class ValueAt>
  DTS_BLOCK_CODE void write_row(
      int thread, int i, Value* row, int columns, const ValueAt& value_at) const {
    const bool aligned = is_aligned<2>(row);
    for (int block = 0; block < k_blocks; ++block) {
      const int column = first_column(thread) + block * k_step;
      const float pair[2] = {value_at(sums[block][2 * i]), value_at(sums[block][2 * i + 1])};
      if (column < columns) write_few(row + column, pair, columns - column, aligned);
    }
  }

  // Word `number` of 16 columns of a left factor, from `begin` on, as the instruction expects it:
  // words 0 and 1 have two neighbours of each of the thread's rows in the first eight columns,
  // words 2 and 3 in the others.
  [[nodiscard]] DTS_BLOCK_CODE std::uint32_t word(int begin, int number) const {
    const float* const pair = sums[begin / k_step + number / 2] + number % 2 * 2;
    return rounded_pair(pair[0], pair[1]);
  }
};

}  // namespace dts::train::accelerator
