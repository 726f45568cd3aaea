// SPDX-License-Identifier: Apache-2.0
// Products of matrices inside of a kernel: 64 x 64 values of a product, of which each of 256
// threads has 16 for itself, in what it keeps; some columns of the factors at a time come into
// memory that the threads share. Two types of that memory say how: PlainFactors (plain_factors.hpp)
// and TensorFactors (tensor_factors.hpp). Each has
//   Part                     what a thread keeps of the product
//   Stored                   what factors are in the device's memory
//   k_columns                of factors at a time
//   fetch<threads>(...)      what a thread brings there
//   add_to(part, ...)        what a thread computes of it
#pragma once

#include "core/train/accelerator/kernels/eights.hpp"

namespace dts::train::accelerator {

inline constexpr int k_tile = 64;

// Of a tile, what there is.
struct TileSize {
  int rows = 0;
  int columns = 0;
};

// Factors: (row, column) is a value of it, `rows` there are; where neighbours in memory are
// neighbours of a column, k_is_upright. Some have eight neighbours in memory at multiples of eight
// rows, or columns below `end`, if suits_eights(end): from at(row, column) on, nullptr for zeros.
// These are rows of a matrix, each a row of the factor:
template <class Value>
struct RowsFactor {
  static constexpr bool k_is_upright = false;

  const Value* first = nullptr;
  int pitch = 0;
  int rows = 0;

  [[nodiscard]] DTS_BLOCK_CODE float operator()(int row, int column) const {
    return value_of(*at(row, column));
  }

  [[nodiscard]] DTS_BLOCK_CODE const Value* at(int row, int column) const {
    return first + row * pitch + column;
  }

  [[nodiscard]] DTS_BLOCK_CODE bool suits_eights(int end) const {
    return end % Eight::k_count == 0 && accelerator::suits_eights(first, pitch);
  }
};

// each a column of it:
template <class Value>
struct ColumnsFactor {
  static constexpr bool k_is_upright = true;

  const Value* first = nullptr;
  int pitch = 0;
  int rows = 0;

  [[nodiscard]] DTS_BLOCK_CODE float operator()(int row, int column) const {
    return value_of(*at(row, column));
  }

  [[nodiscard]] DTS_BLOCK_CODE const Value* at(int row, int column) const {
    return first + column * pitch + row;
  }

  [[nodiscard]] DTS_BLOCK_CODE bool suits_eights(int /*end*/) const {
    return rows % Eight::k_count == 0 && accelerator::suits_eights(first, pitch);
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

// kept[thread] += left right^T, over `inner` columns.
template <int threads, class Block, class Factors, class Kept, class Left, class Right>
DTS_BLOCK_CODE void add_product(const Block& block,
                                Factors& shared,
                                Kept& kept,
                                const Left& left,
                                const Right& right,
                                int inner) {
  for (int begin = 0; begin < inner; begin += Factors::k_columns) {
    block.each([&](int thread) {
      Factors::template fetch<threads>(shared.left, thread, left, begin, inner);
      Factors::template fetch<threads>(shared.right, thread, right, begin, inner);
    });
    block.each([&](int thread) {
      if (Factors::Part::is_outside(thread, {left.rows, right.rows})) return;
      const int columns = inner - begin < Factors::k_columns ? inner - begin : Factors::k_columns;
      typename Factors::Part part = kept[thread];
      shared.add_to(part, thread, columns);
      kept[thread] = part;
    });
  }
}

}  // namespace dts::train::accelerator
