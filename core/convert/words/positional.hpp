// SPDX-License-Identifier: Apache-2.0
// The arguments of a call in place of $1, "$@" and $# in the body of a function. Pure.
#pragma once

#include "core/shell/syntax.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::convert {

// A place in the script, and what takes it.
struct Edit {
  shell::Span span;
  std::string text;
};

// $1, $@, $* or $#, with or without an operation.
[[nodiscard]] bool is_positional(const shell::Piece& piece);

// In order and apart from each other, so that the body means in the place of `call` what it means
// in the function. `body` is not empty, and `extent` its place in `text`. nullopt: only the shell
// of the job can tell, as for an unquoted $1 that may be several words.
[[nodiscard]] std::optional<std::vector<Edit>> edits_for(const shell::Statements& body,
                                                         const shell::Span& extent,
                                                         const shell::Command& call,
                                                         std::string_view text);

}  // namespace dts::convert
