// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/blanks.hpp"

#include "core/convert/words/names.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr std::size_t k_longest_blank = 80;

bool is_blank_char(char c) {
  return shell::is_name_char(c) || std::string_view(" -./:,*").find(c) != std::string_view::npos;
}

// Nothing else is in the line: bash would refuse the > or take the next line for a file.
bool ends_line(std::string_view text, std::size_t at) {
  at = text.find_first_not_of(" \t", at);
  return at == std::string_view::npos || text[at] == '\n' || text.substr(at).starts_with("\\\n");
}

// "<cache folder>" at `at`; empty: something else.
Span blank_at(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('>', at);
  if (at + 1 >= text.size() || !shell::is_name_begin(text[at + 1]) ||
      end == std::string_view::npos || end - at > k_longest_blank || text[end - 1] == ' ')
    return {};
  const std::string_view inside = text.substr(at + 1, end - at - 1);
  if (!std::all_of(inside.begin(), inside.end(), is_blank_char)) return {};
  const bool joins_word =
      at > 0 && std::string_view("=/:,").find(text[at - 1]) != std::string_view::npos;
  return joins_word || ends_line(text, end + 1) ? Span{at, end + 1} : Span{};
}

// A backslash at the end of a file, without a line break, is nothing.
std::size_t end_of_file(std::string_view text) {
  const std::size_t last = text.find_last_not_of('\\');
  const std::size_t count = text.size() - (last == std::string_view::npos ? 0 : last + 1);
  return text.size() - count % 2;
}

}  // namespace

Rewrite with_quoted_blanks(std::string_view text) {
  std::vector<Span> blanks;
  if (text.find('<') != std::string_view::npos) {
    const shell::Script script = shell::parse(text);
    each_command(script.statements, [&](const shell::Command& command) {
      for (const shell::Redirection& one : command.redirections)
        if (one.sign == "<" && one.span.begin < text.size() && text[one.span.begin] == '<')
          blanks.push_back(blank_at(text, one.span.begin));
    });
    std::sort(blanks.begin(), blanks.end(), [](const Span& a, const Span& b) {
      return a.begin < b.begin;
    });
  }
  Rewrite made(text);
  std::size_t at = 0;
  for (const Span& blank : blanks) {
    if (blank.begin >= blank.end || blank.begin < at) continue;
    made.keep({at, blank.begin});
    made.insert("'");
    made.keep(blank);
    made.insert("'");
    at = blank.end;
  }
  made.keep({at, std::max(at, end_of_file(text))});
  return made;
}

}  // namespace dts::convert
