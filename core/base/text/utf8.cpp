// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>

#include <iterator>

namespace dts {
namespace {

// True for Unicode's controls (C0, DEL, C1), line and paragraph separators, and characters that
// change or hide the writing direction (UAX #9), by which a line can pass for another.
bool acts_on_a_terminal(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
         (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

std::string shown_as(std::string_view bytes, const std::optional<Character>& character) {
  if (bytes.front() == '\t') return {' '};
  if (character && !acts_on_a_terminal(character->code)) return std::string(bytes);
  std::string escaped;
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(escaped), "\\x{:02x}", static_cast<unsigned char>(byte));
  return escaped;
}

}  // namespace

std::optional<Character> utf8_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return std::nullopt;
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned first = byte(at);
  const std::size_t length = first < 0x80       ? 1
                             : first >> 5 == 6  ? 2
                             : first >> 4 == 14 ? 3
                             : first >> 3 == 30 ? 4
                                                : 0;
  if (length == 0 || at + length > text.size()) return std::nullopt;
  unsigned code = length == 1 ? first : first & (0x7fU >> length);
  for (std::size_t k = at + 1; k < at + length; ++k) {
    if (byte(k) >> 6 != 2) return std::nullopt;
    code = code << 6 | (byte(k) & 0x3fU);
  }
  constexpr unsigned k_smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < k_smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    return std::nullopt;
  return Character{code, length};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto character = utf8_at(text, at);
    if (!character || character->code == 0) return false;
    at += character->length;
  }
  return true;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = utf8_at(text, at);
    const std::size_t length = character ? character->length : 1;
    const std::string piece = shown_as(text.substr(at, length), character);
    if (shown.size() + piece.size() > most) return shown + " ...";
    shown += piece;
    at += length;
  }
  return shown;
}

}  // namespace dts
