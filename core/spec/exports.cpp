// SPDX-License-Identifier: Apache-2.0
#include "core/spec/exports.hpp"

#include "core/base/text/text.hpp"
#include "core/base/variable_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace dts::spec {
namespace {

// Split at commas outside of quotation marks, which are removed; nullopt: one is not closed.
std::optional<std::vector<std::string>> entries_of(const std::string& text) {
  std::vector<std::string> entries(1);
  char quote = '\0';
  for (const char c : text) {
    if (quote == '\0' && c == ',')
      entries.emplace_back();
    else if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = '\0';
    else
      entries.back() += c;
  }
  if (quote != '\0') return std::nullopt;
  return entries;
}

}  // namespace

Result<Exports> parse_exports(const std::string& text) {
  const std::string word = in_lower_case(text);
  Exports exports;
  exports.logs_in = word == "none";
  if (exports.logs_in || word == "nil") return exports;
  const auto entries = entries_of(text);
  if (!entries) return fail(Errc::invalid, "a quotation mark is not closed");
  for (const std::string& entry : *entries) {
    const std::size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    if (in_lower_case(entry) == "all") {
      exports.all = true;
    } else if (!is_variable_name(name) || in_lower_case(entry) == "none") {
      return fail(Errc::invalid,
                  fmt::format("`{}` is not the name of a variable", name),
                  "for example NONE, or HOME,EDITOR=vi, or ALL,DEBUG=1");
    } else {
      (equals == std::string::npos ? exports.names : exports.settings).push_back(entry);
    }
  }
  exports.logs_in = !exports.all;
  return exports;
}

bool passes_on(const Exports& exports, const std::string& name) {
  const bool is_named =
      std::find(exports.names.begin(), exports.names.end(), name) != exports.names.end();
  return (exports.all || is_named) &&
         std::none_of(exports.settings.begin(),
                      exports.settings.end(),
                      [&](const std::string& one) { return one.starts_with(name + "="); });
}

}  // namespace dts::spec
