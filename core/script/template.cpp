// SPDX-License-Identifier: Apache-2.0
#include "core/script/template.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::script {
namespace {

constexpr std::size_t k_longest_value = 1'024;  // Slurm's limit for texts of a job (job_mgr.c)

// One line of the template and what problems in it are called.
struct Line {
  std::string_view text;
  const std::string& name;
  std::size_t number;

  [[nodiscard]] tl::unexpected<Error> bad(std::size_t column,
                                          std::string message,
                                          std::string hint) const {
    return tl::unexpected(to_error({{fmt::format("{}:{}:{}", name, number, column + 1),
                                     std::move(message),
                                     std::move(hint),
                                     std::string(text),
                                     static_cast<int>(column) + 1}}));
  }
};

Result<std::string> quote(const std::string& language, const std::string& value) {
  if (language == "sbatch") return sbatch_quote(value);
  if (!is_printable(value)) return fail(Errc::invalid, "the value contains a control byte");
  return language == "sh" ? shell_quote(value) : value;
}

template <class Map>
std::vector<std::string> keys(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

tl::unexpected<Error> unknown(const Line& line,
                              std::size_t column,
                              std::string_view what,
                              const std::string& word,
                              const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return line.bad(
      column,
      fmt::format("unknown {} `{}`", what, word),
      near ? fmt::format("did you mean `{}`?", *near) : "known are: " + join(known, ", "));
}

// The text of the placeholder {{language name}} at `column`.
Result<std::string> placeholder(const Line& line,
                                std::size_t column,
                                const std::vector<std::string>& words,
                                const Values& values) {
  static const std::vector<std::string> k_languages = {"comment", "lines", "sbatch", "sh"};
  if (words.size() != 2)
    return line.bad(column, "a placeholder has two words", "write e.g. {{sh run_dir}}");
  if (std::find(k_languages.begin(), k_languages.end(), words[0]) == k_languages.end())
    return unknown(line, column, "kind of quoting", words[0], k_languages);
  if (words[0] == "lines")
    return line.bad(column, "{{lines ...}} must stand alone on its line", "");
  const auto value = values.words.find(words[1]);
  if (value == values.words.end())
    return unknown(line, column, "name", words[1], keys(values.words));
  auto quoted = quote(words[0], value->second);
  if (!quoted)
    return line.bad(column, words[1] + ": " + quoted.error().message, quoted.error().hint);
  return quoted;
}

Result<std::string> fill_line(const Line& line, const Values& values) {
  std::string out;
  for (std::size_t at = 0; at < line.text.size();) {
    const std::size_t open = line.text.find("{{", at);
    const std::size_t close = line.text.find("}}", at);
    if (close < open) return line.bad(close, "`}}` without `{{`", "");
    if (open == std::string_view::npos) {
      out += line.text.substr(at);
      break;
    }
    if (close == std::string_view::npos) return line.bad(open, "`{{` without `}}`", "");
    out += line.text.substr(at, open - at);
    const std::string_view inside = line.text.substr(open + 2, close - open - 2);
    DTS_ASSIGN(const std::string text, placeholder(line, open, split(inside, ' '), values));
    out += text;
    at = close + 2;
  }
  return out + "\n";
}

// The name in a line that is nothing but {{lines NAME}}; empty for any other line.
std::string lines_name(std::string_view text) {
  constexpr std::string_view k_start = "{{lines ", k_end = "}}";
  if (text.size() <= k_start.size() + k_end.size()) return {};
  if (text.substr(0, k_start.size()) != k_start || text.substr(text.size() - 2) != k_end) return {};
  const std::string_view name =
      text.substr(k_start.size(), text.size() - k_start.size() - k_end.size());
  return name.find_first_of(" {}") == std::string_view::npos ? std::string(name) : std::string();
}

}  // namespace

Result<std::string> sbatch_quote(std::string_view value) {
  if (!is_printable(value))
    return fail(Errc::invalid, "contains a control byte, which no #SBATCH line can hold");
  if (value.size() > k_longest_value)
    return fail(
        Errc::invalid,
        fmt::format("is {} bytes long, Slurm accepts at most {}", value.size(), k_longest_value));
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

Result<std::string> fill_template(std::string_view text,
                                  const std::string& name,
                                  const Values& values) {
  std::string out;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const Line line{text.substr(0, end), name, ++number};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string block = lines_name(line.text);
    if (block.empty()) {
      DTS_ASSIGN(const std::string filled, fill_line(line, values));
      out += filled;
      continue;
    }
    const auto lines = values.lines.find(block);
    if (lines == values.lines.end()) return unknown(line, 8, "name", block, keys(values.lines));
    for (const std::string& one : lines->second) out += one + "\n";
  }
  return out;
}

}  // namespace dts::script
