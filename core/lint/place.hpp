// SPDX-License-Identifier: Apache-2.0
// Places in a script as users and other programs read them. Pure, thread-safe.
#pragma once

#include "core/lint/rule.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace dts::lint {

struct Place {
  std::size_t line = 1;    // from 1
  std::size_t column = 1;  // from 1, in characters
};

[[nodiscard]] Place place_at(std::string_view text, std::size_t byte);

// A line to show, and the position of the caret in it.
struct Excerpt {
  std::string line;        // safe for a terminal; the part around the caret if the line is long
  std::size_t column = 1;  // from 1, in characters of `line`
};

[[nodiscard]] Excerpt excerpt_at(std::string_view text, std::size_t byte);

}  // namespace dts::lint
