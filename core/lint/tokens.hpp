// SPDX-License-Identifier: Apache-2.0
// Tokens of known services within a text. Pure, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

// A token that someone may log in with, not a placeholder such as "hf_xxxxxxxx".
struct Token {
  std::size_t begin = 0;  // in the text, its prefix ("hf_") included
  std::size_t end = 0;
  std::string what{};  // "a token of Hugging Face"
};

// In the order of the text.
[[nodiscard]] std::vector<Token> find_tokens(std::string_view text);

// The text with *** for each token.
[[nodiscard]] std::string hide_tokens(std::string_view text);

}  // namespace dts::lint
