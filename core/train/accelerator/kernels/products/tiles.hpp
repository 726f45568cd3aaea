// SPDX-License-Identifier: Apache-2.0
// Matrix products within a kernel: a block computes 64 x 64 values of a product, of which each
// thread keeps 16 or 32. Some columns of the factors at a time are loaded into shared memory. The
// details are in two types, PlainFactors (plain_factors.hpp) and TensorFactors
// (tensor_factors.hpp). Each has
//   k_threads                threads per block
//   Part                     a thread's values of a product: k_rows rows, each of which is shared
//                            by k_row_lanes threads
//   Stored                   the type of factors in device memory
//   Side                     some columns of a factor in shared memory
//   k_columns                the number of these columns
//   fetch(...)               begins to load a thread's share of a side
//   wait()                   waits until it is loaded
//   add<...>(part, ...)      adds the product of two sides to a thread's part; the factors may be
//                            upright (see below)
//   k_multiplies_parts       whether add_of_parts() can use kept parts as the left factor; if not:
//   store(...)               copies a thread's part to a side. Threads that share a row are then in
//                            one warp.
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
// that neighbours in memory are neighbours in a column. If allows_eights(end), at(row, column)
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

  [[nodiscard]] DTS_BLOCK_CODE bool allows_eights(int end) const {
    return end % Eight::k_count == 0 && accelerator::allows_eights(first, pitch);
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

  [[nodiscard]] DTS_BLOCK_CODE bool allows_eights(int /*end*/) const {
    return rows % Eight::k_count == 0 && accelerator::allows_eights(first, pitch);
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
  static constexpr int k_gap = Part::k_row_lanes > 4 ? 4 : 0;  // so that rows are in other banks

  float values[k_tile][Part::k_row_lanes + k_gap];

  // Folds a row's values into `first`, in order: four at a time, which are one memory access.
  template <class Operation>
  [[nodiscard]] DTS_BLOCK_CODE float folded(int row, float first, Operation operation) const {
    DTS_UNROLLED(1)
    for (int i = 0; i < Part::k_row_lanes; i += 4)
      for (int j = 0; j < 4; ++j) first = operation(first, values[row][i + j]);
    return first;
  }
};

// The number of columns that a side holds if `columns_left` are left of a factor.
template <class Factors>
[[nodiscard]] DTS_BLOCK_CODE int columns_of_side(int columns_left) {
  return columns_left < Factors::k_columns ? columns_left : Factors::k_columns;
}

// kept[thread] += the product of two sides, whose factors have `size` rows and at least one and up
// to `columns_left` columns left.
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

// Loads columns of factors into sides by work(thread), after all threads have used the previous
// content.
template <class Factors, class Block, class Work>
DTS_BLOCK_CODE void fetch_all(const Block& block, const Work& work) {
  block.each([](int) {});
  block.each([&](int thread) {
    work(thread);
    Factors::wait();
  });
}

// Which sides already hold all columns of their factors.
struct Held {
  bool left = false;
  bool right = false;
};

// kept[thread] += left right^T, over `inner` columns. Loads what the sides do not hold already. A
// factor that is not wider than a side stays there.
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

// The same with a left factor of `rows` rows, whose parts the threads keep. Its values beyond
// `inner` columns must be zero.
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
          [&](int thread) { Factors::store(left_side, thread, left[thread], begin); });
      add_sides<Factors, false, Right::k_is_upright>(
          block, left_side, right_side, kept, size, inner - begin);
    }
  }
}

}  // namespace dts::train::accelerator
