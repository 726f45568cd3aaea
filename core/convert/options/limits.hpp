// SPDX-License-Identifier: Apache-2.0
// Lines with umask and ulimit: options of the job where all its programs have the same, otherwise
// lines of the set-up, which hands on what they change. Pure.
#pragma once

#include "core/convert/parts.hpp"

namespace dts::convert {

// `last`: the last program's place.
void settle_limits(std::vector<Part>& parts, std::size_t last);

// Loses what programs at `places` change for later ones: each has a shell of its own.
void lose_limits(const std::vector<Part>& parts,
                 std::vector<Program>& programs,
                 const std::vector<std::size_t>& places);

inline constexpr const char* k_limits_handed_on = "SCRIPT_LIMITS";
inline constexpr const char* k_take_limits = "eval \"$SCRIPT_LIMITS\"\n";

// A shell's text that hands on the values of `limits`, of SetNames, in SCRIPT_LIMITS.
[[nodiscard]] std::string hand_on_limits(const Names& limits);

// The lines before `last` that are options, as text for a tear-down, whose shell is another.
[[nodiscard]] std::string limits_before(const std::vector<Part>& parts, std::size_t last);

}  // namespace dts::convert
