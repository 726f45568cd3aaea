// SPDX-License-Identifier: Apache-2.0
// What umask and ulimit change of a shell, which its programs inherit. Pure.
#pragma once

#include "core/convert/words/names.hpp"

namespace dts::convert {

// Of a command: "umask", or letters of ulimit, "n". Empty: it changes none of them.
[[nodiscard]] Names limits_set_by(const shell::Command& command);

// A shell's text that hands on the values of `limits`, in SCRIPT_LIMITS.
[[nodiscard]] std::string hand_on_limits(const Names& limits);

inline constexpr const char* k_limits = "SCRIPT_LIMITS";
inline constexpr const char* k_take_limits = "eval \"$SCRIPT_LIMITS\"\n";

}  // namespace dts::convert
