// SPDX-License-Identifier: Apache-2.0
#include "core/spec/file/write.hpp"

#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/spec/option.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>

namespace dts::spec {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string quoted(const std::string& text) {
  // JSON's escapes are valid TOML, except that JSON leaves DEL unescaped.
  const std::string dumped = json_line(json(text));
  std::string escaped;
  for (const char c : dumped) {
    if (c == '\x7f')
      escaped += "\\u007f";
    else
      escaped += c;
  }
  return escaped;
}

std::string toml_key(const std::string& key) {
  const bool is_bare = !key.empty() && key.find_first_not_of(
                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                           "0123456789_-") == std::string::npos;
  return is_bare ? key : quoted(key);
}

// Text of several lines as such, in a literal string of TOML, which has no escapes.
std::string text_value(const std::string& text) {
  const bool is_plain = text.find("'''") == std::string::npos && !text.ends_with('\'') &&
                        is_utf8(text) && std::all_of(text.begin(), text.end(), [](unsigned char c) {
                          return (c >= ' ' && c != 0x7f) || c == '\n' || c == '\t';
                        });
  if (!is_plain || text.find('\n') == std::string::npos) return quoted(text);
  return "'''\n" + text + "'''";
}

std::string toml_value(const json& value) {
  std::vector<std::string> parts;
  if (value.is_string()) return text_value(value.get<std::string>());
  if (value.is_array()) {
    for (const json& one : value) parts.push_back(toml_value(one));
    return "[" + join(parts, ", ") + "]";
  }
  if (value.is_object()) {
    for (const auto& [key, member] : value.items())
      parts.push_back(toml_key(key) + " = " + toml_value(member));
    return parts.empty() ? "{}" : "{ " + join(parts, ", ") + " }";
  }
  // TOML integers are signed.
  const bool is_too_large = value.is_number_unsigned() &&
                            value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  return is_too_large ? quoted(value.dump()) : value.dump();
}

bool is_list_of_tables(const json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const json& one) { return one.is_object(); });
}

// Writes a typed number as a number where the option takes one.
json tidy(const Option& option, const json& value) {
  const std::string_view type = option.value.type;
  if (!value.is_string() || (type != "N" && type != "[TYPE:]N")) return value;
  const auto number = parse_number(value.get<std::string>());
  return number && std::to_string(*number) == value.get<std::string>() ? json(*number) : value;
}

struct Line {
  std::string key;
  json value;
  std::string origin;
  bool is_built_in = false;
};

// In the order of options(), followed by keys that are not options.
std::vector<Line> lines_of(const Layer& settings, bool with_built_in) {
  std::map<std::string, const Setting*> left;
  for (const Setting& setting : settings) left[setting.key] = &setting;
  std::vector<Line> lines;
  for (const Option& option : options()) {
    const std::string key = option.file_key();
    if (const auto found = left.find(key); found != left.end()) {
      lines.push_back({key, tidy(option, *found->second->value), found->second->origin});
      left.erase(found);
    } else if (with_built_in && option.value.write) {
      if (const json value = option.value.write(JobSpec{}); !value.is_null())
        lines.push_back({key, value, "built-in", true});
    }
  }
  for (const auto& [key, setting] : left) lines.push_back({key, *setting->value, setting->origin});
  return lines;
}

std::string tables_of(const Line& line) {
  std::string text;
  for (const json& table : line.value) {
    text += fmt::format("\n[[{}]]\n", toml_key(line.key));
    for (const auto& [key, member] : table.items())
      text += fmt::format("{} = {}\n", toml_key(key), toml_value(member));
  }
  return text;
}

}  // namespace

std::string to_toml(const Layer& settings, Origins origins) {
  std::string text;
  std::string tables;
  for (const Line& line : lines_of(settings, origins == Origins::shown)) {
    if (is_list_of_tables(line.value)) {
      tables += tables_of(line);
      continue;
    }
    text += fmt::format(
        "{}{} = {}", line.is_built_in ? "# " : "", toml_key(line.key), toml_value(line.value));
    text +=
        origins == Origins::shown ? fmt::format("  # {}\n", printable(line.origin, 4'096)) : "\n";
  }
  return text + tables;
}

std::string to_job_json(const Layer& settings) {
  ordered_json document = ordered_json::object();
  for (const Line& line : lines_of(settings, false)) document[line.key] = line.value;
  return json_text(document);
}

std::string to_config_json(const Layer& settings) {
  ordered_json values = ordered_json::object();
  for (const Line& line : lines_of(settings, true))
    values[line.key] = {{"value", line.value}, {"origin", line.origin}};
  const ordered_json document{{"schema", "dtsubmit/config/1"}, {"values", values}};
  return json_text(document);
}

}  // namespace dts::spec
