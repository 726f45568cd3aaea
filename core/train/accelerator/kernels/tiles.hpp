// SPDX-License-Identifier: Apache-2.0
// Products of matrices inside of a kernel: 64 x 64 values of a product, of which each of 256
// threads has 4 x 4 for itself, in what it keeps; factors come 32 columns at a time into memory
// that the threads share. The order of sums is that of the columns.
#pragma once

#include "core/train/accelerator/kernels/rounding.hpp"

namespace dts::train::accelerator {

inline constexpr int k_tile = 64;

// Of a tile, what there is.
struct TileSize {
  int rows = 0;
  int columns = 0;
};

struct alignas(16) FourFloats {
  float values[4];
};

// What a thread keeps of a product: rows 4 (thread / 16) and on, columns 4 (thread % 16) and on.
struct TilePart {
  static constexpr int k_side = 4;

  FourFloats rows[k_side];

  [[nodiscard]] DTS_BLOCK_CODE static int first_row(int thread) { return thread / 16 * k_side; }

  [[nodiscard]] DTS_BLOCK_CODE static int first_column(int thread) { return thread % 16 * k_side; }

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
    if (row >= these.rows || column >= these.columns) return;
    for (int i = 0; i < k_side; ++i)
      for (int j = 0; j < k_side; ++j)
        if (row + i < these.rows && column + j < these.columns)
          work(row + i, column + j, rows[i].values[j]);
  }
};

// Some columns of both factors, [column][row].
struct TileFactors {
  static constexpr int k_columns = 32;
  static constexpr int k_pitch = k_tile / 4 + 1;  // a gap, so that columns are in other banks

  FourFloats left[k_columns][k_pitch];
  FourFloats right[k_columns][k_pitch];
};

// As products of a training read it (products.hpp).
[[nodiscard]] DTS_BLOCK_CODE inline float as_factor(float value, bool rounds) {
  if (!rounds) return value;
  const std::uint32_t bits = static_cast<std::uint32_t>(rounded_to_bf16(value)) << 16;
  float rounded = 0;
  memcpy(&rounded, &bits, sizeof rounded);
  return rounded;
}

// Factors: (row, column) is a value of it, `rows` there are; where neighbours in memory are
// neighbours of a column, k_is_upright. These are rows of a matrix, each a row of the factor:
struct RowsFactor {
  static constexpr bool k_is_upright = false;

  const float* first = nullptr;
  int pitch = 0;
  int rows = 0;

  [[nodiscard]] DTS_BLOCK_CODE float operator()(int row, int column) const {
    return first[row * pitch + column];
  }
};

// each a column of it:
struct ColumnsFactor {
  static constexpr bool k_is_upright = true;

  const float* first = nullptr;
  int pitch = 0;
  int rows = 0;

  [[nodiscard]] DTS_BLOCK_CODE float operator()(int row, int column) const {
    return first[column * pitch + row];
  }
};

// A tile in memory that the threads share, and its transposition.
struct Tile {
  static constexpr int k_pitch = k_tile + 1;

  float values[k_tile][k_pitch];
};

template <bool is_transposed>
struct TileFactor {
  static constexpr bool k_is_upright = false;

  const Tile* tile = nullptr;
  int rows = 0;

  [[nodiscard]] DTS_BLOCK_CODE float operator()(int row, int column) const {
    return is_transposed ? tile->values[column][row] : tile->values[row][column];
  }
};

template <int threads, class Factor>
DTS_BLOCK_CODE void fetch_factor(FourFloats (&to)[TileFactors::k_columns][TileFactors::k_pitch],
                                 int thread,
                                 const Factor& factor,
                                 int begin,
                                 int end,
                                 bool rounds) {
  constexpr int k_values = TileFactors::k_columns * k_tile;
  DTS_UNROLLED_TWICE
  for (int i = thread; i < k_values; i += threads) {
    const int row = Factor::k_is_upright ? i % k_tile : i / TileFactors::k_columns;
    const int column = Factor::k_is_upright ? i / k_tile : i % TileFactors::k_columns;
    const bool is_there = row < factor.rows && begin + column < end;
    to[column][row / 4].values[row % 4] =
        is_there ? as_factor(factor(row, begin + column), rounds) : 0.0F;
  }
}

// kept[thread] += left right^T, over `inner` columns.
template <int threads, class Block, class Kept, class Left, class Right>
DTS_BLOCK_CODE void add_product(const Block& block,
                                TileFactors& shared,
                                Kept& kept,
                                const Left& left,
                                const Right& right,
                                int inner,
                                bool rounds) {
  for (int begin = 0; begin < inner; begin += TileFactors::k_columns) {
    block.each([&](int thread) {
      fetch_factor<threads>(shared.left, thread, left, begin, inner, rounds);
      fetch_factor<threads>(shared.right, thread, right, begin, inner, rounds);
    });
    block.each([&](int thread) {
      const int row = TilePart::first_row(thread);
      const int column = TilePart::first_column(thread);
      if (row >= left.rows || column >= right.rows) return;
      const int columns =
          inner - begin < TileFactors::k_columns ? inner - begin : TileFactors::k_columns;
      TilePart sums = kept[thread];
      DTS_UNROLLED_TWICE
      for (int k = 0; k < columns; ++k) {
        const FourFloats a = shared.left[k][row / 4];
        const FourFloats b = shared.right[k][column / 4];
        for (int i = 0; i < TilePart::k_side; ++i)
          for (int j = 0; j < TilePart::k_side; ++j)
            sums.rows[i].values[j] += a.values[i] * b.values[j];
      }
      kept[thread] = sums;
    });
  }
}

}  // namespace dts::train::accelerator
