// SPDX-License-Identifier: Apache-2.0
#include "core/base/median.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace dts;
using Values = std::vector<std::uint64_t>;

TEST_CASE("a median is one of the values: the larger of two in the middle") {
  CHECK(median(Values{}) == 0);
  CHECK(median(Values{7}) == 7);
  CHECK(median(Values{1, 9}) == 9);
  CHECK(median(Values{9, 1, 5}) == 5);
  CHECK(median(Values{4, 1, 3, 2}) == 3);
}

TEST_CASE("a quantile is the value that a share of the others do not reach") {
  Values values;
  for (std::uint64_t v = 30; v > 0; --v) values.push_back(v);
  CHECK(quantile(values, 0.1) == 4);
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(Values{5}, 0.1) == 5);
  CHECK(quantile(Values{}, 0.1) == 0);
}
