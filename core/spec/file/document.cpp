// SPDX-License-Identifier: Apache-2.0
#include "core/spec/file/document.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dts::spec {
namespace {

constexpr std::size_t k_longest_line = 160;

std::string line_of(std::string_view text, unsigned number) {
  std::size_t start = 0;
  for (; number > 1 && start != std::string_view::npos; --number) {
    start = text.find('\n', start);
    if (start != std::string_view::npos) ++start;
  }
  if (start >= text.size()) return "";
  std::string line(text.substr(start, text.find('\n', start) - start));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::replace(line.begin(), line.end(), '\t', ' ');
  const bool can_be_shown =
      line.size() <= k_longest_line && line == printable(line, k_longest_line);
  return can_be_shown ? line : "";
}

// "/steps/0/nodes" in readable form: "steps[0].nodes".
std::string dotted(const std::string& pointer) {
  std::string words;
  for (const std::string& part : split(std::string_view(pointer).substr(1), '/'))
    if (parse_number(part))
      words += fmt::format("[{}]", part);
    else
      words += (words.empty() ? "" : ".") + part;
  return words;
}

const Spot* nearest_spot(const std::map<std::string, Spot>& spots, std::string pointer) {
  while (true) {
    if (const auto found = spots.find(pointer); found != spots.end()) return &found->second;
    if (pointer.empty()) return nullptr;
    pointer.resize(pointer.rfind('/'));
  }
}

}  // namespace

Document::Document(std::string file, std::string text, nlohmann::json value, Spots spots)
    : file_(std::move(file)),
      text_(std::move(text)),
      value_(std::make_shared<const nlohmann::json>(std::move(value))),
      spots_(std::move(spots)) {}

std::string Document::place(const std::string& pointer) const {
  const Spot* spot = nearest_spot(spots_.values, pointer);
  return spot == nullptr ? file_ : fmt::format("{}:{}:{}", file_, spot->line, spot->column);
}

Diagnostic Document::at_value(const std::string& pointer, Error error) const {
  const Spot* spot = nearest_spot(spots_.values, pointer);
  if (!pointer.empty()) error.message = dotted(pointer) + ": " + error.message;
  return at_spot(text_, file_, spot == nullptr ? Spot{} : *spot, std::move(error));
}

Diagnostic Document::at_key(const std::string& pointer, Error error) const {
  const auto spot = spots_.keys.find(pointer);
  return spot == spots_.keys.end() ? at_value(pointer, std::move(error))
                                   : at_spot(text_, file_, spot->second, std::move(error));
}

Diagnostic at_spot(std::string_view text, const std::string& file, Spot spot, Error error) {
  if (spot.line == 0) return {file, std::move(error.message), std::move(error.hint)};
  std::string source = line_of(text, spot.line);
  const int caret = source.empty() ? 0 : static_cast<int>(spot.column);
  return {fmt::format("{}:{}:{}", file, spot.line, spot.column),
          std::move(error.message),
          std::move(error.hint),
          std::move(source),
          caret};
}

std::optional<Diagnostic> unreadable(std::string_view text, const std::string& file) {
  if (text.size() > k_longest_text)
    return Diagnostic{file,
                      fmt::format("{} bytes, at most {} are read", text.size(), k_longest_text)};
  Spot spot{1, 1};
  for (std::size_t i = 0; i < text.size();) {
    const auto character = utf8_at(text, i);
    if (!character || character->code == 0)
      return at_spot(
          text,
          file,
          spot,
          {Errc::invalid, character ? "a NUL byte" : "a byte that is not part of UTF-8", ""});
    spot = character->code == '\n' ? Spot{spot.line + 1, 1} : Spot{spot.line, spot.column + 1};
    i += character->length;
  }
  return std::nullopt;
}

std::string member_of(const std::string& pointer, std::string_view key) {
  std::string member = pointer + "/";
  for (const char c : key) {
    if (c == '~')
      member += "~0";
    else if (c == '/')
      member += "~1";
    else
      member += c;
  }
  return member;
}

}  // namespace dts::spec
