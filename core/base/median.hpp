// SPDX-License-Identifier: Apache-2.0
// Median and quantiles of measured values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace dts {

// The element at the fraction `share` of the sorted values, 0 <= `share` < 1; T{} if `values` is
// empty. O(N).
template <class T>
[[nodiscard]] T quantile(std::vector<T> values, double share) {
  if (values.empty()) return {};
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The median; of an even number of values, the larger of the two in the middle.
template <class T>
[[nodiscard]] T median(std::vector<T> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace dts
