// SPDX-License-Identifier: Apache-2.0
// Reads a batch script's options as sbatch does, by the rules of Slurm 22.05 (src/sbatch/opt.c).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::tests {

inline bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Returns the next word of an #SBATCH line from `at` on, and moves `at` behind it; nullopt at the
// end. Sets `fatal` where sbatch would exit.
inline std::optional<std::string> next_word(std::string_view line, std::size_t& at, bool& fatal) {
  while (at < line.size() && is_blank(line[at])) ++at;
  if (at < line.size() && line[at] == ':') fatal = true;
  std::string word;
  bool any = false, escaped = false;
  char quote = 0;
  for (; at < line.size() && (quote != 0 || !is_blank(line[at])); ++at) {
    const char c = line[at];
    if (escaped) {
      escaped = false;  // taken literally
    } else if (c == '\\') {
      escaped = true;  // in single quotes, too
      continue;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
        continue;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      continue;
    } else if (c == '#') {
      break;  // a comment, even inside a word
    }
    word += c;
    any = true;
  }
  if (quote != 0) fatal = true;
  if (!any) return std::nullopt;
  return word;
}

// All options of a script, in order; nullopt if sbatch would refuse the script.
inline std::optional<std::vector<std::string>> read_directives(std::string_view script) {
  std::vector<std::string> words;
  if (script.find('\0') != std::string_view::npos || script.find("\r\n") != std::string_view::npos)
    return std::nullopt;
  while (!script.empty()) {
    const std::size_t end = script.find('\n');
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(end == std::string_view::npos ? script.size() : end + 1);
    std::size_t first = 0;
    while (first < line.size() && is_blank(line[first])) ++first;
    if (first < line.size() && line[first] != '#') break;  // the first command ends the options
    constexpr std::string_view k_magic = "#SBATCH";
    if (line.substr(0, k_magic.size()) != k_magic) continue;
    std::size_t at = k_magic.size();
    if (at < line.size() && !is_blank(line[at])) return std::nullopt;
    bool fatal = false;
    while (auto word = next_word(line, at, fatal)) words.push_back(std::move(*word));
    if (fatal) return std::nullopt;
  }
  return words;
}

}  // namespace dts::tests
