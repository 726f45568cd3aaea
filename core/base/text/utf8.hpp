// SPDX-License-Identifier: Apache-2.0
// Untrusted text: checks that it is UTF-8 (RFC 3629), and makes it safe to show. Pure, thread-safe.
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

// The character that begins at text[at]; nullopt if there is none in its shortest encoding.
[[nodiscard]] std::optional<Character> utf8_at(std::string_view text, std::size_t at);

// True for text that is UTF-8 throughout, without a NUL.
[[nodiscard]] bool is_utf8(std::string_view text);

// `text` as one line that is safe on a terminal: a tab becomes a blank; control characters,
// characters that change the writing direction, line separators and bytes that are not UTF-8 are
// written as \x1b, byte by byte. Output longer than `most` bytes is cut before that length, between
// two characters, and " ..." is appended.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most);

}  // namespace dts
