// SPDX-License-Identifier: Apache-2.0
// Timing that other processes hardly disturb: of many short windows it uses those in which nobody
// took the core, and of these the fast end. A slow machine is slow in every window, a busy one is
// not. Thread-safe.
#pragma once

#include "core/base/median.hpp"
#include "core/train/bench/core_time.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace dts::train::bench {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The value that a tenth of `values` do not reach; 0 if there are none. The minimum would depend on
// luck and on the clock's resolution.
[[nodiscard]] inline double lower_decile(std::vector<double> values) {
  return quantile(std::move(values), 0.1);
}

struct Timed {
  double seconds = 0;  // 0: unknown
  CoreTime spent{};    // total of all windows
};

// Returns the fast end of the durations of `work`, which should take about 0.1 ms, short compared
// with the scheduler's time slices of some milliseconds. After a first call that is not timed,
// calls it for `budget` seconds, and for up to 0.3 s more until twenty windows were not
// interrupted. Unknown if almost all windows were interrupted, since these say nothing about the
// machine. `stolen`, for tests, is the share of each window that is spent waiting, as if the core
// were slower.
template <class Work>
[[nodiscard]] Timed fast_seconds(double budget, double stolen, const Work& work) {
  constexpr std::size_t k_fewest = 3;
  constexpr std::size_t k_enough = 20;
  constexpr double k_patience = 0.3;  // s; short, because a health check has little time
  work();
  std::vector<double> undisturbed;
  const Clock::time_point begin = Clock::now();
  const auto goes_on = [&](double spent) {
    return spent < budget || (undisturbed.size() < k_enough && spent < budget + k_patience);
  };
  const CoreTime at_begin = core_time();
  long before = preemptions();
  while (goes_on(seconds_since(begin))) {
    const Clock::time_point start = Clock::now();
    work();
    const double whole = seconds_since(start) / (1 - stolen);
    double seconds = seconds_since(start);
    while (seconds < whole) seconds = seconds_since(start);
    const long after = preemptions();
    if (after == before) undisturbed.push_back(seconds);
    before = after;
  }
  const CoreTime spent = core_time() - at_begin;
  return {undisturbed.size() < k_fewest ? 0 : lower_decile(std::move(undisturbed)), spent};
}

// Amount per second; 0 if the duration is unknown.
[[nodiscard]] inline double per_second(double amount, double seconds) {
  return seconds > 0 ? amount / seconds : 0;
}

}  // namespace dts::train::bench
