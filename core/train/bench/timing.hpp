// SPDX-License-Identifier: Apache-2.0
// Timing that other processes on the machine disturb little: many short windows, of which those
// count in which nobody took the core, and of these the fast end. A machine that is slow is slow in
// every window; one that is busy is not. Thread-safe.
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

// The value that a tenth of `values` do not reach; 0 of none. The minimum would be a matter of luck
// and of the clock's resolution.
[[nodiscard]] inline double lower_decile(std::vector<double> values) {
  return quantile(std::move(values), 0.1);
}

struct Timed {
  double seconds = 0;  // 0: not known
  CoreTime spent{};    // by all windows together
};

// The fast end of the durations of `work`, which should take about 0.1 ms: short against the
// scheduler's time slices of some milliseconds. Calls it, after a first call that is not timed, for
// `budget` seconds and until twenty windows were not interrupted, but for no more than 0.3 s
// longer. Not known if hardly any window was left alone: the others say nothing of the machine.
// `stolen`, for tests: the share of each window that is waited away, as if the core were slower.
template <class Work>
[[nodiscard]] Timed fast_seconds(double budget, double stolen, const Work& work) {
  constexpr std::size_t k_fewest = 3;
  constexpr std::size_t k_enough = 20;
  constexpr double k_patience = 0.3;  // s; a health check has few of them
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

// How often a second: 0 for a duration that is not known.
[[nodiscard]] inline double per_second(double amount, double seconds) {
  return seconds > 0 ? amount / seconds : 0;
}

}  // namespace dts::train::bench
