// SPDX-License-Identifier: Apache-2.0
// Products of fp32. The order of sums is that of the columns.
#pragma once

#include "core/train/accelerator/kernels/tiles.hpp"

namespace dts::train::accelerator {

struct alignas(16) FourFloats {
  float values[4];
};

// What a thread keeps of a product: rows 4 (thread / 16) and on, columns 4 (thread % 16) and on.
struct PlainPart {
  static constexpr int k_side = 4;

  FourFloats rows[k_side];

  [[nodiscard]] DTS_BLOCK_CODE static int first_row(int thread) { return thread / 16 * k_side; }

  [[nodiscard]] DTS_BLOCK_CODE static int first_column(int thread) { return thread % 16 * k_side; }

  [[nodiscard]] DTS_BLOCK_CODE static bool is_outside(int thread, const TileSize& size) {
    return first_row(thread) >= size.rows || first_column(thread) >= size.columns;
  }

  DTS_BLOCK_CODE void clear() {
    for (FourFloats& row : rows)
      for (float& value : row.values) value = 0;
  }

  // One of a thread's own, by its place in the tile.
  [[nodiscard]] DTS_BLOCK_CODE float at(int thread, int row, int column) const {
    return rows[row - first_row(thread)].values[column - first_column(thread)];
  }

  // Calls work(row, column, value) for each of `these` rows and columns of the tile.
  template <class Work>
  DTS_BLOCK_CODE void for_each(int thread, const TileSize& these, const Work& work) {
    const int row = first_row(thread);
    const int column = first_column(thread);
    if (is_outside(thread, these)) return;
    for (int i = 0; i < k_side; ++i)
      for (int j = 0; j < k_side; ++j)
        if (row + i < these.rows && column + j < these.columns)
          work(row + i, column + j, rows[i].values[j]);
  }
};

// Some columns of both factors, [column][row].
struct PlainFactors {
  using Part = PlainPart;
  using Stored = float;

  static constexpr int k_columns = 32;
  static constexpr int k_pitch = k_tile / 4 + 1;  // a gap, so that columns are in other banks
  using Side = FourFloats[k_columns][k_pitch];

  Side left;
  Side right;

  template <int threads, class Factor>
  DTS_BLOCK_CODE static void fetch(Side& to, int thread, const Factor& factor, int begin, int end) {
    DTS_UNROLLED_TWICE
    for (int i = thread; i < k_columns * k_tile; i += threads) {
      const int row = Factor::k_is_upright ? i % k_tile : i / k_columns;
      const int column = Factor::k_is_upright ? i / k_tile : i % k_columns;
      const bool is_there = row < factor.rows && begin + column < end;
      to[column][row / 4].values[row % 4] = is_there ? factor(row, begin + column) : 0.0F;
    }
  }

  DTS_BLOCK_CODE void add_to(Part& part, int thread, int columns) const {
    const int row = Part::first_row(thread) / 4;
    const int column = Part::first_column(thread) / 4;
    DTS_UNROLLED_TWICE
    for (int k = 0; k < columns; ++k) {
      const FourFloats a = left[k][row];
      const FourFloats b = right[k][column];
      for (int i = 0; i < Part::k_side; ++i)
        for (int j = 0; j < Part::k_side; ++j) part.rows[i].values[j] += a.values[i] * b.values[j];
    }
  }
};

}  // namespace dts::train::accelerator
