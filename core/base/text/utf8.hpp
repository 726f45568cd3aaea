// SPDX-License-Identifier: Apache-2.0
// Text of others: is it UTF-8 (RFC 3629), and how is it shown without doing harm. Pure,
// thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dts {

struct Character {
  char32_t code = 0;
  std::size_t length = 0;  // bytes
};

// The character that begins at text[at]; nullopt where there is none in its shortest form.
[[nodiscard]] std::optional<Character> utf8_at(std::string_view text, std::size_t at);

// True for text that is UTF-8 throughout, without a NUL.
[[nodiscard]] bool is_utf8(std::string_view text);

// `text` as one line that a terminal only shows: a tab is a blank, and control characters, those
// that turn the direction of writing, line separators and bytes that are not UTF-8 are written as
// \x1b, byte by byte. Text longer than `most` bytes (as it is shown) is cut before that, between
// two characters, and " ..." follows.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most);

}  // namespace dts
