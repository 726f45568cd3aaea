// SPDX-License-Identifier: Apache-2.0
// Reads shell scripts. Pure, thread-safe.
#pragma once

#include "core/shell/syntax.hpp"

#include <string_view>

namespace dts::shell {

// Constructs nested more deeply are not looked into.
inline constexpr int k_deepest = 96;

// Any text, however broken, gives a tree and the problems that were found. The grammar is that of
// bash(1), 5.2, without aliases; extended patterns count as enabled. Time and memory are
// proportional to the text.
[[nodiscard]] Script parse(std::string_view text);

}  // namespace dts::shell
