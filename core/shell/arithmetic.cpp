// SPDX-License-Identifier: Apache-2.0
#include "core/shell/arithmetic.hpp"

#include "core/shell/syntax.hpp"

#include <algorithm>
#include <iterator>

namespace dts::shell {
namespace {

constexpr std::string_view k_blanks = " \t\n";

std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(k_blanks), text.size()));
}

// For each [ the place of its ], npos for one without; entries of other characters say nothing.
std::vector<std::size_t> closings_of(std::string_view text) {
  std::vector<std::size_t> closings(text.size(), std::string_view::npos);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') open.push_back(i);
    if (text[i] != ']' || open.empty()) continue;
    closings[open.back()] = i;
    open.pop_back();
  }
  return closings;
}

bool begins_with_assignment(std::string_view text) {
  constexpr std::string_view k_signs[] = {
      "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return (text.starts_with('=') && !text.starts_with("==")) ||
         std::any_of(std::begin(k_signs), std::end(k_signs), [text](std::string_view sign) {
           return text.starts_with(sign);
         });
}

bool ends_with_increment(std::string_view text) {
  const std::size_t last = text.find_last_not_of(k_blanks);
  const std::string_view before = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  return before.ends_with("++") || before.ends_with("--");
}

}  // namespace

std::vector<std::string> names_set_by(std::string_view expression) {
  std::vector<std::string> names;
  const std::vector<std::size_t> closings = closings_of(expression);
  // What follows the name that ends at `end`, and its index, [i].
  const auto rest_behind = [&](std::size_t end) {
    const std::string_view rest = without_blanks(expression.substr(end));
    const std::size_t open = expression.size() - rest.size();
    const bool has_index = rest.starts_with('[') && closings[open] != std::string_view::npos;
    return has_index ? without_blanks(expression.substr(closings[open] + 1)) : rest;
  };
  for (std::size_t at = 0; at < expression.size();) {
    if (!is_name_char(expression[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < expression.size() && is_name_char(expression[end])) ++end;
    const std::string_view rest = rest_behind(end);
    const bool is_name = is_name_begin(expression[at]) && (at == 0 || expression[at - 1] != '$');
    if (is_name && (begins_with_assignment(rest) || ends_with_increment(expression.substr(0, at))))
      names.emplace_back(expression.substr(at, end - at));
    at = end;
  }
  return names;
}

}  // namespace dts::shell
