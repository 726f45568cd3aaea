// SPDX-License-Identifier: Apache-2.0
// What a Program says of itself.
#include "core/convert/program/program.hpp"

#include <algorithm>

namespace dts::convert {

void Program::note(const std::vector<std::string>& more, const std::vector<std::string>& lost) {
  notes.insert(notes.end(), more.begin(), more.end());
  losses.insert(losses.end(), lost.begin(), lost.end());
}

void Program::add_blanks(const std::vector<Blank>& more) {
  for (const Blank& one : more)
    if (std::none_of(blanks.begin(), blanks.end(), [&](const Blank& other) {
          return other.option == one.option && other.texts == one.texts;
        }))
      blanks.push_back(one);
}

std::string Program::source() const {
  return text.empty() ? to_source(words) : text;
}

bool Program::needs_shell() const {
  return !text.empty() ||
         std::any_of(words.begin(), words.end(), [](const FlatWord& word) { return !plain(word); });
}

}  // namespace dts::convert
