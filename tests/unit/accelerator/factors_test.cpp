// SPDX-License-Identifier: Apache-2.0
// Which value of a factor each thread brings into shared memory.
#include "core/train/accelerator/kernels/plain_factors.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>

using namespace dts::train::accelerator;

namespace {

constexpr int k_of_warp = 32;
constexpr int k_of_side = PlainFactors::k_columns * k_tile;

// Of shared memory, four bytes wide.
int bank_of(int row, int column) {
  return (column * PlainFactors::Side::k_pitch * 4 + row) % k_of_warp;
}

}  // namespace

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
