// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/substitute.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/sweep/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace dts::sweep {
namespace {

// {name} or {{name}} in a text.
struct Placeholder {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name;
  bool escaped = false;
};

std::optional<Placeholder> placeholder_at(const std::string& text, std::size_t brace) {
  const bool escaped = text.compare(brace, 2, "{{") == 0;
  const std::size_t name = brace + (escaped ? 2 : 1);
  const std::size_t close = text.find('}', name);
  if (close == std::string::npos || close - name > k_longest_name) return std::nullopt;
  Placeholder found{brace, close + 1, text.substr(name, close - name), escaped};
  if (!is_name(found.name)) return std::nullopt;
  if (!escaped) return found;
  if (text.compare(close, 2, "}}") != 0) return std::nullopt;
  found.end = close + 2;
  return found;
}

// The next one from `at` on.
std::optional<Placeholder> next_placeholder(const std::string& text, std::size_t at) {
  for (std::size_t brace = text.find('{', at); brace != std::string::npos;
       brace = text.find('{', brace + 1))
    if (auto found = placeholder_at(text, brace)) return found;
  return std::nullopt;
}

// The parameter that was probably meant.
template <class Names, class NameOf>
std::optional<std::string> similar(const std::string& word,
                                   const Names& names,
                                   const NameOf& name_of) {
  if (word.size() < 2) return std::nullopt;
  for (const auto& one : names) {
    const std::string& name = name_of(one);
    const std::size_t most = std::max<std::size_t>(1, std::min(word.size(), name.size()) / 4);
    if (name.size() > 1 && edit_distance(word, name) <= most) return name;
  }
  return std::nullopt;
}

}  // namespace

std::string substitute(const std::string& text, const Assignments& values, const Quote& quote) {
  std::string result;
  std::size_t done = 0;
  for (auto found = next_placeholder(text, 0); found; found = next_placeholder(text, found->end)) {
    result.append(text, done, found->begin - done);
    done = found->end;
    const auto is_it = [&](const auto& one) { return one.first == found->name; };
    const auto value = std::find_if(values.begin(), values.end(), is_it);
    const auto name_of = [](const auto& one) -> const std::string& { return one.first; };
    const bool ours = value != values.end() || similar(found->name, values, name_of);
    if (found->escaped && ours)
      result += "{" + found->name + "}";
    else if (value != values.end() && !found->escaped)
      result += quote ? quote(value->second) : value->second;
    else
      result.append(text, found->begin, found->end - found->begin);
  }
  return result.append(text, done, std::string::npos);
}

void check_placeholders(const std::string& text,
                        const std::vector<std::string>& names,
                        const std::string& where,
                        Diagnostics& problems) {
  const auto name_of = [](const std::string& one) -> const std::string& { return one; };
  for (auto found = next_placeholder(text, 0); found; found = next_placeholder(text, found->end)) {
    if (found->escaped || found->name == "index" ||
        std::find(names.begin(), names.end(), found->name) != names.end())
      continue;
    const auto meant = similar(found->name, names, name_of);
    if (!meant) continue;
    const bool shown = text.size() <= 160 && is_utf8(text) && is_printable(text);
    problems.push_back(
        {where,
         fmt::format("{{{}}} is not a parameter of the sweep", found->name),
         fmt::format(
             "did you mean {{{}}}? The text itself is written {{{{{}}}}}", *meant, found->name),
         shown ? text : "",
         shown ? static_cast<int>(found->begin) + 1 : 0});
  }
}

}  // namespace dts::sweep
