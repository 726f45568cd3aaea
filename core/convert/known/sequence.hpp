// SPDX-License-Identifier: Apache-2.0
// The values that a `for` loop goes through: {1..4}, $(seq 4), ((i = 0; i < 4; i++)). Pure.
#pragma once

#include "core/shell/syntax.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dts::convert {

class Known;

// Loops with more iterations are left to the shell.
inline constexpr std::size_t k_most_turns = 256;

// "{1..4}"
[[nodiscard]] bool is_range(std::string_view text);

// False if it has too many numbers or is not a range of numbers.
[[nodiscard]] bool add_range(std::string_view text, std::vector<std::string>& words);

// The output of the `seq` in a substitution; nullopt for another command, or if not known.
[[nodiscard]] std::optional<std::vector<std::string>> sequence_of(const shell::Piece& substitution,
                                                                  const Known& known);

// The variable of ((NAME = A; NAME < B; NAME++)) and its values.
[[nodiscard]] std::optional<std::pair<std::string, std::vector<std::string>>> counted_turns(
    std::string_view expression, const Known& known);

}  // namespace dts::convert
