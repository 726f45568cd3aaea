// SPDX-License-Identifier: Apache-2.0
// The arguments of a script, $1 and "$@", that its statements use. Pure.
#pragma once

#include "core/shell/syntax.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace dts::convert {

// True if the statement uses $1, "$@" and the like, outside functions.
[[nodiscard]] bool uses_arguments(const shell::Statement& statement);

// The same for all of them at once: "$@" or $*.
[[nodiscard]] bool uses_all_arguments(const shell::Statement& statement);

// True if it reads options among the arguments: getopts, or a loop over "$@" or until $# is 0.
[[nodiscard]] bool reads_options(const shell::Statement& statement);

// The script's arguments behind `count` that the statement needs, "$1", each once: it has no
// default for them, and nothing asks whether they are there. `is_program`: without the argument, a
// choice by it that has no other branch would start nothing.
[[nodiscard]] std::vector<std::string> missing_arguments(const shell::Statement& statement,
                                                         std::size_t count,
                                                         bool is_program);

}  // namespace dts::convert
