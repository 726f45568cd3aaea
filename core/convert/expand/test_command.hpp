// SPDX-License-Identifier: Apache-2.0
// What [ ], test and [[ ]] make of words that are known when a script is converted. Pure.
#pragma once

#include "core/convert/expand/known.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace dts::convert {

// nullopt: not known.
[[nodiscard]] std::optional<bool> not_(std::optional<bool> one);
[[nodiscard]] std::optional<bool> and_(std::optional<bool> a, std::optional<bool> b);
[[nodiscard]] std::optional<bool> or_(std::optional<bool> a, std::optional<bool> b);

// `[` or `test`, with up to four arguments, as POSIX has it.
[[nodiscard]] std::optional<bool> outcome_of_test(const shell::Command& command,
                                                  const Known& known);

// The words of [[ ]], without parentheses and =~.
[[nodiscard]] std::optional<bool> outcome_of_long_test(const std::vector<shell::Word>& words,
                                                       const Known& known);

// The pattern for matches() that a word is: an unquoted * or ? stays one, anything else is quoted
// by a backslash; nullopt: not known, or more than that.
[[nodiscard]] std::optional<std::string> pattern_of(const shell::Word& word, const Known& known);

// The text matches a pattern of * and ?, in which \ quotes.
[[nodiscard]] bool matches(std::string_view text, std::string_view pattern);

}  // namespace dts::convert
