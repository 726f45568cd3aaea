// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/number_list.hpp"

#include <doctest/doctest.h>

namespace dts {

using Numbers = std::vector<unsigned>;

TEST_CASE("lists of numbers are read and written as the kernel writes them") {
  struct {
    Numbers numbers;
    const char* text;
    const char* with_steps;
  } const table[] = {
      {{}, "", ""},
      {{7}, "7", "7"},
      {{0, 1}, "0,1", "0,1"},
      {{0, 1, 2}, "0-2", "0-2"},
      {{0, 1, 2, 8, 10, 11, 12}, "0-2,8,10-12", "0-2,8,10-12"},
      {{0, 2, 4, 6}, "0,2,4,6", "0-6:2"},
      {{0, 8, 16, 24, 25, 26, 27}, "0,8,16,24-27", "0-24:8,25-27"},
      {{3, 5, 9}, "3,5,9", "3,5,9"},
  };

  for (const auto& row : table) {
    CAPTURE(row.text);
    CHECK(fold_numbers(row.numbers) == row.text);
    CHECK(fold_with_steps(row.numbers) == row.with_steps);
    CHECK(parse_number_list(row.text, 100) == row.numbers);
  }
}

TEST_CASE("invalid and overlong lists of numbers are refused") {
  for (const char* text :
       {",", "1,", "a", "1-", "-1", "3-1", "1 2", "0-101", "4294967296", "1-2-3"})
    CHECK_MESSAGE(!parse_number_list(text, 100), text);
}

}  // namespace dts
