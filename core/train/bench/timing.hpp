// SPDX-License-Identifier: Apache-2.0
// Timing that other processes on the machine disturb little: many short windows, of which the fast
// end counts. A machine that is slow is slow in every window; one that is busy is not. Pure but for
// the clock; thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace dts::train::bench {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The value that a tenth of `values` do not reach; 0 of none. The minimum would be a matter of luck
// and of the clock's resolution.
[[nodiscard]] inline double lower_decile(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 10);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The fast end of the durations of `work`, which should be short against the scheduler's time
// slices of some milliseconds. Calls it for `budget` seconds and at least twenty times, unless that
// takes ten times the budget, after a first call that is not timed.
template <class Work>
[[nodiscard]] double fast_seconds(double budget, const Work& work) {
  constexpr std::size_t k_fewest = 3;
  constexpr std::size_t k_enough = 20;
  work();
  std::vector<double> windows;
  const Clock::time_point begin = Clock::now();
  const auto goes_on = [&](double spent) {
    return spent < budget || windows.size() < k_fewest ||
           (windows.size() < k_enough && spent < 10 * budget);
  };
  while (goes_on(seconds_since(begin))) {
    const Clock::time_point start = Clock::now();
    work();
    windows.push_back(seconds_since(start));
  }
  return lower_decile(std::move(windows));
}

}  // namespace dts::train::bench
