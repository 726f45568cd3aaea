// SPDX-License-Identifier: Apache-2.0
// Evaluates [ ], test and [[ ]] on words that are known at conversion. Pure.
#pragma once

#include "core/convert/known/known.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace dts::convert {

// nullopt: not known.
[[nodiscard]] std::optional<bool> not_(std::optional<bool> one);
[[nodiscard]] std::optional<bool> and_(std::optional<bool> a, std::optional<bool> b);
[[nodiscard]] std::optional<bool> or_(std::optional<bool> a, std::optional<bool> b);

// `[` or `test`, with up to four arguments, as in POSIX.
[[nodiscard]] std::optional<bool> outcome_of_test(const shell::Command& command,
                                                  const Known& known);

// The words of [[ ]], without parentheses and =~.
[[nodiscard]] std::optional<bool> outcome_of_long_test(const std::vector<shell::Word>& words,
                                                       const Known& known);

// Converts a word to a pattern for matches(): an unquoted * or ? stays, anything else is quoted
// by a backslash; nullopt if it is not known or more complex.
[[nodiscard]] std::optional<std::string> pattern_of(const shell::Word& word, const Known& known);

// True if the text matches a pattern of * and ?, in which \ quotes.
[[nodiscard]] bool matches(std::string_view text, std::string_view pattern);

}  // namespace dts::convert
