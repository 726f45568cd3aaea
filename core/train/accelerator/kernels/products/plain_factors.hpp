// SPDX-License-Identifier: Apache-2.0
// Products of fp32 factors. Sums are in the order of the columns.
#pragma once

#include "core/train/accelerator/kernels/products/tiles.hpp"

namespace dts::train::accelerator {

struct alignas(16) FourFloats {
  float values[4];
};

// A thread's part of a product: four rows from 4 (thread / 16) on, four columns from 4 (thread %
// 16) on.
struct PlainPart {
  static constexpr int k_side = 4;
  static constexpr int k_rows = k_side;
  static constexpr int k_row_lanes = 16;

  FourFloats rows[k_side];

  [[nodiscard]] DTS_BLOCK_CODE static int row(int thread, int i) {
    return thread / k_row_lanes * k_side + i;
  }

  // The thread's index among those that share its rows.
  [[nodiscard]] DTS_BLOCK_CODE static int row_lane(int thread) { return thread % k_row_lanes; }

  [[nodiscard]] DTS_BLOCK_CODE static int first_column(int thread) {
    return row_lane(thread) * k_side;
  }

  [[nodiscard]] DTS_BLOCK_CODE static bool is_outside(int thread, const TileSize& size) {
    return row(thread, 0) >= size.rows || first_column(thread) >= size.columns;
  }

  DTS_BLOCK_CODE void clear() {
    for (FourFloats& row : rows)
      for (float& value : row.values) value = 0;
  }

  // Calls work(column, value) for each value of row number i.
  template <class Work>
  DTS_BLOCK_CODE void for_each_of_row(int thread, int i, const Work& work) {
    for (int j = 0; j < k_side; ++j) work(first_column(thread) + j, rows[i].values[j]);
  }

  // The same with the value of `other`: work(column, value, other value).
  template <class Work>
  DTS_BLOCK_CODE void for_each_of_row(int thread, int i, const PlainPart& other, const Work& work) {
    for (int j = 0; j < k_side; ++j)
      work(first_column(thread) + j, rows[i].values[j], other.rows[i].values[j]);
  }

  // Writes row number i of `columns` values to `row`, each as value_at(value).
  template <class Value, class ValueAt>
  DTS_BLOCK_CODE void write_row(
      int thread, int i, Value* row, int columns, const ValueAt& value_at) const {
    const int column = first_column(thread);
    if (column >= columns) return;
    float few[k_side];
    for (int j = 0; j < k_side; ++j) few[j] = value_at(rows[i].values[j]);
    write_few(row + column, few, columns - column, is_aligned<k_side>(row));
  }
};

struct PlainFactors {
  using Part = PlainPart;
  using Stored = float;

  static constexpr int k_threads = k_block_threads;
  static constexpr int k_columns = 32;
  static constexpr bool k_multiplies_parts = false;

  // [column][row], with a gap, so that columns are in different banks.
  struct Side {
    static constexpr int k_pitch = k_tile / 4 + 1;

    FourFloats columns[k_columns][k_pitch];
  };

  // The value that a thread loads in turn `i`; 32 consecutive turns belong to a warp. These are
  // neighbours in memory, except if neighbours in memory are neighbours in a row, whose columns are
  // 4 banks apart: then a warp loads 8 values of each of 4 rows, so that each value has its own
  // bank, and reads of a row are one or two sectors.
  template <bool is_upright>
  [[nodiscard]] DTS_CODE_OF_BOTH static int row_of(int i) {
    return is_upright ? i % k_tile
                      : i / k_sector % k_rows_together +
                            i / (k_columns * k_rows_together) * k_rows_together;
  }

  template <bool is_upright>
  [[nodiscard]] DTS_CODE_OF_BOTH static int column_of(int i) {
    return is_upright ? i / k_tile
                      : i % k_sector + i / (k_sector * k_rows_together) * k_sector % k_columns;
  }

  using PartsSide = Side;

  template <class Factor>
  DTS_BLOCK_CODE static void fetch(Side& to, int thread, const Factor& factor, int begin, int end) {
    DTS_UNROLLED(2)
    for (int i = thread; i < k_columns * k_tile; i += k_threads) {
      const int row = row_of<Factor::k_is_upright>(i);
      const int column = column_of<Factor::k_is_upright>(i);
      const bool exists = row < factor.rows && begin + column < end;
      to.columns[column][row / 4].values[row % 4] = exists ? factor(row, begin + column) : 0.0F;
    }
  }

  DTS_BLOCK_CODE static void wait() {}

  // Stores the part's columns from `begin` on.
  DTS_BLOCK_CODE static void store(Side& to, int thread, const Part& part, int begin) {
    const int first = Part::first_column(thread) - begin;
    if (first < 0 || first >= k_columns) return;
    for (int j = 0; j < Part::k_side; ++j)
      for (int i = 0; i < Part::k_side; ++i)
        to.columns[first + j][Part::row(thread, 0) / 4].values[i] = part.rows[i].values[j];
  }

  template <bool is_left_upright, bool is_right_upright>
  DTS_BLOCK_CODE static void add(
      Part& part, int thread, const Side& left, const Side& right, int columns) {
    const int row = Part::row(thread, 0) / 4;
    const int column = Part::first_column(thread) / 4;
    DTS_UNROLLED(2)
    for (int k = 0; k < columns; ++k) {
      const FourFloats a = left.columns[k][row];
      const FourFloats b = right.columns[k][column];
      for (int i = 0; i < Part::k_side; ++i)
        for (int j = 0; j < Part::k_side; ++j) part.rows[i].values[j] += a.values[i] * b.values[j];
    }
  }

 private:
  static constexpr int k_sector = 8;         // floats
  static constexpr int k_rows_together = 4;  // rows, in one turn of a warp
};

}  // namespace dts::train::accelerator
