// SPDX-License-Identifier: Apache-2.0
// Products of matrices inside of a kernel: 64 x 64 values of a product, of which each thread of a
// block has 16 or 32 for itself, in what it keeps; some columns of the factors at a time come into
// memory that the threads share. Types say how: PlainFactors (plain_factors.hpp) and TensorFactors
// (tensor_factors.hpp). Each has
//   k_threads                of a block
//   Part                     what a thread keeps of a product: k_rows rows, each with values of
//                            k_sharing threads
//   Stored                   what factors are in the device's memory
//   Side                     some columns of a factor in shared memory
//   k_columns                how many
//   fetch(...)               what a thread brings there, before it waits for it:
//   wait()
//   add<...>(part, ...)      what it computes of two sides, which factors that are upright or not
//                            (below) have brought there
//   k_multiplies_parts       whether a left factor may be what threads keep, in add_of_parts().
//                            Otherwise there are, if the threads that share a row are of one warp:
//   put(...)                 what a thread puts of it into a side
#pragma once

#include "core/train/accelerator/kernels/eights.hpp"

namespace dts::train::accelerator {

inline constexpr int k_tile = 64;

// The rows and columns of a tile that exist.
struct TileSize {
  int rows = 0;
  int columns = 0;
};

// A factor is a matrix with `rows` rows; factor(row, column) is a value of it. k_is_upright means
// that neighbours in memory are neighbours in a column. If suits_eights(end), at(row, column)
// points to eight neighbours in memory, at multiples of eight rows, or of eight columns below
// `end`; nullptr means zeros. This factor is made of rows of a matrix, each of which is a row of
// the factor:
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

// In this factor, each row of the matrix is a column:
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

// Writes the values of a thread's part that are in `these` rows and columns; row_at(row) is the
// address of a row.
template <class Part, class RowAt>
DTS_BLOCK_CODE void write_part(const Part& part,
                               int thread,
                               const TileSize& these,
                               const RowAt& row_at) {
  for (int i = 0; i < Part::k_rows; ++i)
    if (const int row = Part::row(thread, i); row < these.rows)
      part.write_row(thread, i, row_at(row), these.columns, [](float value) { return value; });
}

// A value from each of the threads that share a row.
template <class Part>
struct RowParts {
  static constexpr int k_gap = Part::k_sharing > 4 ? 4 : 0;  // so that rows are in other banks

  float values[k_tile][Part::k_sharing + k_gap];

  // Folds a row's values into `first`, in order: four at a time, which are one memory access.
  template <class Operation>
  [[nodiscard]] DTS_BLOCK_CODE float folded(int row, float first, Operation operation) const {
    DTS_UNROLLED(1)
    for (int i = 0; i < Part::k_sharing; i += 4)
      for (int j = 0; j < 4; ++j) first = operation(first, values[row][i + j]);
    return first;
  }
};

// Of so many columns those that a side has.
template <class Factors>
[[nodiscard]] DTS_BLOCK_CODE int columns_of_side(int columns_left) {
  return columns_left < Factors::k_columns ? columns_left : Factors::k_columns;
}

// kept[thread] += what two sides have of their factors, whose rows are `size`: of their columns so
// many are left.
template <class Factors,
          bool is_left_upright,
          bool is_right_upright,
          class Block,
          class Kept,
          class Side = typename Factors::Side>
DTS_BLOCK_CODE void add_sides(const Block& block,
                              const Side& left,
                              const Side& right,
                              Kept& kept,
                              const TileSize& size,
                              int columns_left) {
  const int columns = columns_of_side<Factors>(columns_left);
  block.each_in_warps([&](int thread) {
    if (Factors::Part::is_outside(thread, size)) return;
    typename Factors::Part part = kept[thread];
    Factors::template add<is_left_upright, is_right_upright>(part, thread, left, right, columns);
    kept[thread] = part;
  });
}

// Brings columns of factors into sides, by work(thread), once all threads are done with what was
// there.
template <class Factors, class Block, class Work>
DTS_BLOCK_CODE void fetch_all(const Block& block, const Work& work) {
  block.each([](int) {});
  block.each([&](int thread) {
    work(thread);
    Factors::wait();
  });
}

// Which sides have all columns of their factors already.
struct Held {
  bool left = false;
  bool right = false;
};

// kept[thread] += left right^T, over `inner` columns. What a side does not hold is brought there,
// and stays if it is not more than a side has room for.
template <class Factors, class Block, class Kept, class Left, class Right>
DTS_BLOCK_CODE void add_product(const Block& block,
                                typename Factors::Side& left_side,
                                typename Factors::Side& right_side,
                                Kept& kept,
                                const Left& left,
                                const Right& right,
                                int inner,
                                const Held& held = {}) {
  for (int begin = 0; begin < inner; begin += Factors::k_columns) {
    if (!(held.left && held.right))
      fetch_all<Factors>(block, [&](int thread) {
        if (!held.left) Factors::fetch(left_side, thread, left, begin, inner);
        if (!held.right) Factors::fetch(right_side, thread, right, begin, inner);
      });
    add_sides<Factors, Left::k_is_upright, Right::k_is_upright>(
        block, left_side, right_side, kept, {left.rows, right.rows}, inner - begin);
  }
}

// The same with a left factor of which threads keep parts, of `rows` rows. What is beyond `inner`
// columns of it must be zero.
template <class Factors, class Block, class Kept, class Parts, class Right>
DTS_BLOCK_CODE void add_product_of_parts(const Block& block,
                                         typename Factors::PartsSide& left_side,
                                         typename Factors::Side& right_side,
                                         Kept& kept,
                                         Parts& left,
                                         int rows,
                                         const Right& right,
                                         int inner,
                                         bool has_right) {
  const TileSize size{rows, right.rows};
  for (int begin = 0; begin < inner; begin += Factors::k_columns) {
    if (!has_right)
      fetch_all<Factors>(
          block, [&](int thread) { Factors::fetch(right_side, thread, right, begin, inner); });
    if constexpr (Factors::k_multiplies_parts) {
      const int columns = columns_of_side<Factors>(inner - begin);
      block.each_in_warps([&](int thread) {
        if (!Factors::Part::is_outside(thread, size))
          Factors::template add_of_parts<Right::k_is_upright>(
              kept[thread], thread, left, right_side, columns);
      });
    } else {
      block.each_in_warps(
          [&](int thread) { Factors::put(left_side, thread, left[thread], begin); });
      add_sides<Factors, false, Right::k_is_upright>(
          block, left_side, right_side, kept, size, inner - begin);
    }
  }
}

}  // namespace dts::train::accelerator
