// SPDX-License-Identifier: Apache-2.0
// Which value of a factor each thread loads into shared memory, and what it writes of a product.
#include "core/train/accelerator/kernels/products/plain_factors.hpp"
#include "core/train/accelerator/kernels/products/tensor_factors.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

using namespace dts::train::accelerator;

namespace {

constexpr int k_of_warp = 32;
constexpr int k_of_side = PlainFactors::k_columns * k_tile;

// The bank of shared memory, which is four bytes wide.
int bank_of(int row, int column) {
  return (column * PlainFactors::Side::k_pitch * 4 + row) % k_of_warp;
}

// Threads per block.
template <class Part>
constexpr int k_threads_of = k_tile* Part::k_row_lanes / Part::k_rows;

// Small whole numbers, which bf16 has as well.
float value_at(int row, int column) {
  return static_cast<float>(row + 2 * column);
}

// Rows of `columns` values, one after another from `offset` on, as the threads of a block write
// them; values that they do not write are -1.
template <class Part, class Value>
std::vector<float> written(int columns, int offset) {
  constexpr int k_beyond = 8;
  std::vector<Value> to(static_cast<std::size_t>(offset + k_tile * columns + k_beyond));
  for (Value& one : to) store(one, -1);
  for (int thread = 0; thread < k_threads_of<Part>; ++thread) {
    Part part;
    for (int i = 0; i < Part::k_rows; ++i) {
      const int row = Part::row(thread, i);
      part.for_each_of_row(
          thread, i, [&](int column, float& value) { value = value_at(row, column); });
    }
    write_part(part, thread, {k_tile - 1, columns}, [&](int row) {
      return to.data() + offset + row_begin(static_cast<std::size_t>(row), columns);
    });
  }
  std::vector<float> values;
  for (const Value one : to) values.push_back(value_of(one));
  return values;
}

template <class Part, class Value>
void check_written(int columns, int offset) {
  std::vector<float> expected(static_cast<std::size_t>(offset), -1.0F);
  for (int row = 0; row < k_tile - 1; ++row)
    for (int column = 0; column < columns; ++column) expected.push_back(value_at(row, column));
  const std::vector<float> values = written<Part, Value>(columns, offset);
  expected.resize(values.size(), -1.0F);
  CHECK(values == expected);
}

}  // namespace

TEST_CASE("parts of a product are written as far as there are rows and columns") {
  for (const int columns : {1, 2, 7, 16, 30, 63, 64})
    for (const int offset : {0, 1, 2}) {
      check_written<PlainPart, float>(columns, offset);
      check_written<TensorPart, float>(columns, offset);
      check_written<TensorPart, Bfloat>(columns, offset);
      check_written<TensorRowFactors::Part, Bfloat>(columns, offset);
    }
}

TEST_CASE_TEMPLATE("threads that share a row of what attention keeps are of one warp",
                   Factors,
                   PlainFactors,
                   TensorRowFactors) {
  using Part = typename Factors::Part;
  CHECK(k_threads_of<Part> == Factors::k_threads);
  std::vector<std::set<int>> warps(k_tile);
  for (int thread = 0; thread < Factors::k_threads; ++thread)
    for (int i = 0; i < Part::k_rows; ++i)
      warps[static_cast<std::size_t>(Part::row(thread, i))].insert(thread / k_of_warp);
  for (const std::set<int>& one : warps) CHECK(one.size() == 1);
}

TEST_CASE_TEMPLATE("a warp brings values of fp32 to a bank each, and each value comes once",
                   IsUpright,
                   std::false_type,
                   std::true_type) {
  std::set<std::pair<int, int>> all;
  for (int begin = 0; begin < k_of_side; begin += k_of_warp) {
    std::set<int> banks;
    for (int i = begin; i < begin + k_of_warp; ++i) {
      const int row = PlainFactors::row_of<IsUpright::value>(i);
      const int column = PlainFactors::column_of<IsUpright::value>(i);
      CHECK(row < k_tile);
      CHECK(column < PlainFactors::k_columns);
      all.emplace(row, column);
      banks.insert(bank_of(row, column));
    }
    CHECK(banks.size() == k_of_warp);
  }
  CHECK(all.size() == k_of_side);
}
