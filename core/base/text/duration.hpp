// SPDX-License-Identifier: Apache-2.0
// Durations as users write them: "20", "1.5h". Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace dts {

using Seconds = std::chrono::duration<double>;

// A decimal number followed by nothing or s (seconds), m (minutes), h (hours) or d (days); finite
// and not negative. Errc::invalid.
[[nodiscard]] Result<Seconds> parse_duration(std::string_view text);

// To three digits, in the largest unit in which the value is at least 1: "20 s", "1.5 min", "3.09
// h", "30 d"; "never" if infinite.
[[nodiscard]] std::string format_duration(Seconds time);

}  // namespace dts
