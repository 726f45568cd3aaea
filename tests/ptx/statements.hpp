// SPDX-License-Identifier: Apache-2.0
// The statements of a text in PTX.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptx {

// `name` is its first word.
struct Statement {
  std::string name;
  std::string rest;
  int line = 0;
};

// All statements, without comments: instructions, directives, labels with their colon, and braces
// around blocks. Braces around operands are part of a statement.
[[nodiscard]] std::vector<Statement> statements(std::string_view text);

// The text without spaces around it.
[[nodiscard]] std::string trimmed(std::string_view text);

// Its first word, and what follows.
[[nodiscard]] std::pair<std::string, std::string> first_word(const std::string& text);

}  // namespace ptx
