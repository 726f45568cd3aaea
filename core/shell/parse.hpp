// SPDX-License-Identifier: Apache-2.0
// Reads shell scripts. Pure, thread-safe.
#pragma once

#include "core/shell/syntax.hpp"

#include <string_view>

namespace dts::shell {

// The maximum depth of nested constructs; deeper ones are not analysed.
inline constexpr int k_deepest = 96;

// Any text, however broken, yields a tree and the problems that were found. The grammar is that of
// bash(1), 5.2, without aliases and with extended patterns enabled. Time and memory are
// proportional to the length of the text.
[[nodiscard]] Script parse(std::string_view text);

}  // namespace dts::shell
