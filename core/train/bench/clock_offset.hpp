// SPDX-License-Identifier: Apache-2.0
// How far apart two clocks are (F. Cristian, "Probabilistic clock synchronization", Distributed
// Computing 3, 1989, doi 10.1007/BF01784024). Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train::bench {

// A question and its answer; times in ns of this clock, except `answered`.
struct ClockExchange {
  std::int64_t asked = 0;
  std::int64_t answered = 0;  // by the other clock
  std::int64_t received = 0;
};

// The seconds by which this clock is ahead of the other one, from the exchange with the shortest
// round trip, half of which bounds the error. nullopt if there are no exchanges.
[[nodiscard]] inline std::optional<double> clock_offset(
    const std::vector<ClockExchange>& exchanges) {
  const auto trip = [](const ClockExchange& e) { return e.received - e.asked; };
  const auto best =
      std::min_element(exchanges.begin(), exchanges.end(), [&](const auto& a, const auto& b) {
        return trip(a) < trip(b);
      });
  if (best == exchanges.end()) return std::nullopt;
  return static_cast<double>(best->asked - best->answered + trip(*best) / 2) * 1e-9;
}

}  // namespace dts::train::bench
