// SPDX-License-Identifier: Apache-2.0
// The middle of measured values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace dts {

// The value that `share` (0 to 1) of `values` do not reach, one of them; T{} of none. O(N).
template <class T>
[[nodiscard]] T quantile(std::vector<T> values, double share) {
  if (values.empty()) return {};
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The larger of two in the middle.
template <class T>
[[nodiscard]] T median(std::vector<T> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace dts
