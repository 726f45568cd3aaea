// SPDX-License-Identifier: Apache-2.0
#include "core/spec/json.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/text/json_bytes.hpp"
#include "core/base/text/text.hpp"
#include "core/spec/option.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace dts::spec {
namespace {

using nlohmann::json;

constexpr const char* k_schema = "dtsubmit/spec/1";
constexpr std::size_t k_most_bytes = std::size_t{1} << 20;
constexpr int k_deepest = 16;

Result<void> read_arguments(const json& value, std::vector<std::string>& into) {
  into.clear();
  if (value.is_array())
    for (const json& word : value) {
      auto bytes = bytes_from_json(word);
      if (!bytes) break;
      into.push_back(*std::move(bytes));
    }
  if (value.is_array() && into.size() == value.size()) return {};
  return fail(
      Errc::invalid,
      R"(expected a list of strings, e.g. ["python3", "train.py"], or {"hex": "..."} for bytes)");
}

Result<void> read_schema(const json& value) {
  if (value == k_schema) return {};
  return fail(Errc::invalid, fmt::format("expected \"{}\"", k_schema));
}

// The line and column of a byte, and the line itself for the caret.
Diagnostic at_byte(std::string_view text,
                   std::size_t byte,
                   const std::string& file,
                   std::string message) {
  byte = std::min(byte, text.size());
  const std::string_view before = text.substr(0, byte);
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = byte - start + 1;
  std::string source(text.substr(start, text.find('\n', start) - start));
  if (source.size() > 160 || !is_printable(source)) source.clear();
  return {fmt::format("{}:{}:{}", file, line, column),
          std::move(message),
          "",
          source,
          source.empty() ? 0 : static_cast<int>(column)};
}

// A bomb of brackets is refused before anything is built from it. The byte of the bracket too deep.
std::optional<std::size_t> too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      continue;
    else if ((c == '[' || c == '{') && ++depth > k_deepest)
      return i;
    else if (c == ']' || c == '}')
      --depth;
  }
  return std::nullopt;
}

// Parses into `value`; keys given twice at the top go to `repeated`.
std::optional<Diagnostic> parse(std::string_view text,
                                const std::string& file,
                                json& value,
                                std::set<std::string>& repeated) {
  if (text.size() > k_most_bytes)
    return Diagnostic{file,
                      fmt::format("{} bytes, at most {} are read", text.size(), k_most_bytes)};
  if (const auto byte = too_deep(text))
    return at_byte(text, *byte, file, fmt::format("nested deeper than {}", k_deepest));
  std::set<std::string> keys;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1 &&
        !keys.insert(parsed.get<std::string>()).second)
      repeated.insert(parsed.get<std::string>());
    return true;
  };
  try {
    value = json::parse(text, watch);
    return std::nullopt;
  } catch (const json::parse_error& error) {
    std::string what =
        error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const std::size_t colon = what.find(": "); colon != std::string::npos)
      what.erase(0, colon + 2);
    return at_byte(text, error.byte > 0 ? error.byte - 1 : 0, file, "not JSON: " + what);
  } catch (const json::exception& error) {
    return Diagnostic{file, std::string("not JSON: ") + error.what()};
  }
}

using Keys = std::map<std::string, std::function<Result<void>(const json&, JobSpec&)>>;

// All keys of spec.json: options, schema and command.
Keys known_keys() {
  Keys keys;
  for (const Option& option : options())
    if (option.value.read) keys[option.json_key()] = option.value.read;
  keys["schema"] = [](const json& value, JobSpec&) { return read_schema(value); };
  keys["command"] = [](const json& value, JobSpec& spec) {
    return read_arguments(value, spec.command);
  };
  return keys;
}

void read_field(const std::string& file,
                const std::string& key,
                const json& value,
                JobSpec& spec,
                Diagnostics& problems) {
  static const Keys keys = known_keys();
  if (const auto found = keys.find(key); found != keys.end()) {
    if (const auto read = found->second(value, spec); !read)
      problems.push_back({fmt::format("{}: /{}", file, key), read.error().message});
    return;
  }
  std::vector<std::string> known;
  for (const auto& [name, read] : keys) known.push_back(name);
  const auto near = nearest(key, known);
  problems.push_back(
      {file,
       fmt::format("unknown key `{}`", key),
       near ? fmt::format("did you mean `{}`?", *near) : "known are: " + join(known, ", ")});
}

}  // namespace

std::string to_json(const JobSpec& spec) {
  nlohmann::ordered_json document = {{"schema", k_schema}};
  for (const Option& option : options()) {
    if (!option.value.write) continue;
    auto value = option.value.write(spec);
    if (!value.is_null()) document[option.json_key()] = std::move(value);
  }
  document["command"] = bytes_to_json(spec.command);
  // validate() refuses other texts that are not UTF-8; `replace` only keeps a caller who forgot it
  // from an exception.
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<JobSpec> from_json(std::string_view text, const std::string& file) {
  json value;
  std::set<std::string> repeated;
  if (auto problem = parse(text, file, value, repeated))
    return tl::unexpected(to_error({std::move(*problem)}));
  if (!value.is_object()) return fail(Errc::invalid, file + ": expected an object { ... }");
  Diagnostics problems;
  JobSpec spec;
  for (const std::string& key : repeated)
    problems.push_back({file, fmt::format("key `{}` is given twice", key)});
  if (!value.contains("schema"))
    problems.push_back({file, "no \"schema\"", fmt::format("add \"schema\": \"{}\"", k_schema)});
  for (const auto& [key, field] : value.items()) read_field(file, key, field, spec, problems);
  if (!problems.empty()) return tl::unexpected(to_error(problems));
  return spec;
}

}  // namespace dts::spec
