// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/statements.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace ptx {
namespace {

bool is_space(char one) {
  return std::isspace(static_cast<unsigned char>(one)) != 0;
}

// Replaces comments by spaces.
std::string without_comments(std::string text) {
  for (auto at = text.find("//"); at != std::string::npos; at = text.find("//", at)) {
    const auto end = std::min(text.find('\n', at), text.size());
    text.replace(at, end - at, end - at, ' ');
  }
  return text;
}

// Whether the end of a line ends a statement.
bool is_line(const std::string& statement) {
  return statement.front() == '.' && statement.find_first_of("[(") == std::string::npos;
}

}  // namespace

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::pair<std::string, std::string> first_word(const std::string& text) {
  const auto space = std::find_if(text.begin(), text.end(), is_space);
  return {std::string(text.begin(), space), trimmed({space, text.end()})};
}

// They end with a semicolon, a label's colon, a brace around a block, or, if they are directives
// without brackets, with the line.
std::vector<Statement> statements(std::string_view text) {
  std::vector<Statement> all;
  std::string now;  // without spaces before it
  int line = 1;
  const auto end = [&] {
    if (now.empty()) return;
    auto [name, rest] = first_word(now);
    all.push_back({std::move(name), std::move(rest), line});
    now.clear();
  };
  for (const char one : without_comments(std::string(text))) {
    const bool is_brace = one == '{' || one == '}';
    if (one == '\n' && !now.empty() && is_line(now)) end();
    if (one == '\n') ++line;
    if (one == ';') {
      end();
    } else if (is_brace && (now.empty() || now.front() == '.')) {
      end();
      now = one;
      end();
    } else if (!now.empty() || !is_space(one)) {
      now += one;
      if (one == ':' && now.front() != '.') end();
    }
  }
  end();
  return all;
}

}  // namespace ptx
