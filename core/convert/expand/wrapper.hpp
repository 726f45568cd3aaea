// SPDX-License-Identifier: Apache-2.0
// Functions of a script that print a command and run it: run() { echo "$@"; srun "$@"; }. Pure.
#pragma once

#include "core/convert/expand/expand.hpp"
#include "core/shell/syntax.hpp"

#include <string_view>

namespace dts::convert {

// The text with the command itself in the place of each call of such a function.
[[nodiscard]] Expanded without_wrappers(std::string_view text, const shell::Script& script);

}  // namespace dts::convert
