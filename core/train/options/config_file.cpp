// SPDX-License-Identifier: Apache-2.0
#include "core/train/options/config_file.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/text/text.hpp"
#include "core/train/options/option_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dts::train {
namespace {

using nlohmann::ordered_json;

// The line and column of byte `offset` of the text.
Diagnostic at_offset(std::string_view text, std::size_t offset, const std::string& file) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto column = static_cast<int>(before.size() - begin) + 1;
  Diagnostic made;
  made.where = fmt::format("{}:{}:{}", file, line, column);
  const std::string_view source = text.substr(begin, text.find('\n', begin) - begin);
  if (is_printable(source)) {
    made.source = source;
    made.column = column;
  }
  return made;
}

const char* problem_of(const std::string& name, const ordered_json& value) {
  const auto table = option_table();
  const bool is_known = std::any_of(
      table.begin(), table.end(), [&](const Option& option) { return name == option.name; });
  if (!is_known) return "is not an option";
  if (name == "--config") return "cannot be in a file of options";
  return value.is_string() || value.is_number() ? nullptr : "must be a string or a number";
}

std::vector<std::string> keys() {
  std::vector<std::string> all;
  for (const Option& option : option_table()) all.emplace_back(option.name + 2);
  return all;
}

}  // namespace

Result<std::vector<OptionWords>> parse_config_file(std::string_view text, const std::string& file) {
  ordered_json root;
  try {
    root = ordered_json::parse(text);
  } catch (const ordered_json::parse_error& error) {
    Diagnostic problem = at_offset(text, error.byte == 0 ? 0 : error.byte - 1, file);
    problem.message = "this is not JSON";
    problem.hint = R"(write options like {"model": "gpt2:char-mini", "steps": 100})";
    return tl::unexpected(to_error({problem}, Errc::usage));
  } catch (const ordered_json::out_of_range&) {
    return fail(Errc::usage, file + ": a number is too large");
  }
  if (!root.is_object())
    return fail(Errc::usage,
                file + ": not a JSON object",
                R"(write options like {"model": "gpt2:char-mini", "steps": 100})");
  std::vector<OptionWords> words;
  Diagnostics problems;
  for (const auto& [key, value] : root.items()) {
    const std::string name = "--" + key;
    if (const char* const problem = problem_of(name, value)) {
      const auto near = nearest(key, keys());
      problems.push_back({file,
                          fmt::format("'{}' {}", is_printable(key) ? key : "?", problem),
                          near && *near != key ? "did you mean " + *near + "?" : ""});
      continue;
    }
    words.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  if (!problems.empty()) return tl::unexpected(to_error(problems, Errc::usage));
  return words;
}

}  // namespace dts::train
