// SPDX-License-Identifier: Apache-2.0
#include "core/lint/place.hpp"

#include "core/base/text/utf8.hpp"

#include <algorithm>

namespace dts::lint {
namespace {

constexpr std::size_t k_widest = 100;       // bytes
constexpr std::size_t k_before_caret = 60;  // shown before the caret of a long line

std::size_t begin_of_line(std::string_view text, std::size_t byte) {
  return text.substr(0, byte).rfind('\n') + 1;  // npos + 1 is 0
}

std::size_t characters_in(std::string_view text) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const auto character = utf8_at(text, at);
    at += character ? character->length : 1;
  }
  return number;
}

// `at`, or the next position that does not split a character.
std::size_t whole_character(std::string_view text, std::size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80) ++at;
  return at;
}

std::string shown(std::string_view text) {
  return printable(text, 4 * k_widest);  // a byte may be written as \x1b
}

}  // namespace

Place place_at(std::string_view text, std::size_t byte) {
  byte = std::min(byte, text.size());
  const std::size_t begin = begin_of_line(text, byte);
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  return {static_cast<std::size_t>(lines) + 1, characters_in(text.substr(begin, byte - begin)) + 1};
}

Excerpt excerpt_at(std::string_view text, std::size_t byte) {
  byte = std::min(byte, text.size());
  const std::size_t line = begin_of_line(text, byte);
  std::size_t end = std::min(text.find('\n', line), text.size());
  if (end > line && text[end - 1] == '\r') --end;
  byte = std::min(byte, end);
  std::size_t begin = line;
  if (end - line > k_widest && byte - line > k_before_caret)
    begin = whole_character(text, byte - k_before_caret);
  const std::size_t last = whole_character(text, std::min(end, begin + k_widest));
  const std::string before = (begin > line ? "... " : "") + shown(text.substr(begin, byte - begin));
  return {
      before + shown(text.substr(byte, std::max(last, byte) - byte)) + (last < end ? " ..." : ""),
      characters_in(before) + 1};
}

}  // namespace dts::lint
