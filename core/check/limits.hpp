// SPDX-License-Identifier: Apache-2.0
// How large a difference must be to count as a fault: the table's tolerances and the user's
// changes. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/check/measures.hpp"

#include <map>
#include <string>

namespace dts::check {

// A measure is at fault if it is worse than its reference both by the tolerance and by this many
// standard deviations, as estimated from the peers. Six would do for normal noise, whose tail
// beyond that is 10^-9; real noise has longer tails, and the estimate has errors.
inline constexpr double k_deviations = 7;

struct Limits {
  std::map<std::string, double> tolerances;  // by key; override the table's
  double deviations = k_deviations;

  [[nodiscard]] double tolerance(const Measure& measure) const;
};

// Reads "memory=20": percent, with or without the sign; "clock_offset=500": milliseconds;
// "noise=8": standard deviations. Errc::usage names what is unknown or out of range.
[[nodiscard]] Result<void> set_limit(const std::string& text, Limits& limits);

}  // namespace dts::check
