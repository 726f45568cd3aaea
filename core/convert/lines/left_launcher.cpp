// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/left_launcher.hpp"

#include "core/base/text/text.hpp"

namespace dts::convert {
namespace {

constexpr std::string_view k_blanks = " \t";
constexpr std::string_view k_separators = "\n;&|({`";

std::string_view last_word(std::string_view text) {
  const std::size_t blank = text.find_last_of(" \t\n;&|({`'\"");
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

std::string_view without_end(std::string_view text, std::string_view characters) {
  const std::size_t last = text.find_last_not_of(characters);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

bool is_in_comment(std::string_view before) {
  const std::string_view line = before.substr(before.find_last_of('\n') + 1);
  return trim(line).starts_with('#') || line.find(" #") != std::string_view::npos;
}

// A command begins behind `before`.
bool begins_command(std::string_view before) {
  constexpr std::string_view k_openers[] = {
      "do", "then", "else", "eval", "time", "exec", "nohup", "command", "env", "!"};
  before = without_end(before, k_blanks);
  if (before.ends_with('\'') || before.ends_with('"')) {  // bash -c '...', eval "..."
    const std::string_view word =
        last_word(without_end(before.substr(0, before.size() - 1), k_blanks));
    return word == "eval" || (word.starts_with('-') && word.ends_with('c'));
  }
  if (before.empty() || k_separators.find(before.back()) != std::string_view::npos) return true;
  const std::string_view word = last_word(before);
  if (word.find('=') != std::string_view::npos && !word.starts_with('-'))  // A=1 srun
    return begins_command(before.substr(0, before.size() - word.size()));
  return is_one_of(k_openers, word);
}

}  // namespace

std::string launcher_in(std::string_view text) {
  constexpr std::string_view k_launchers[] = {
      "srun", "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "ibrun", "aprun", "jsrun"};
  for (const std::string_view name : k_launchers)
    for (std::size_t at = text.find(name); at != std::string_view::npos;
         at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if (end >= text.size() || k_blanks.find(text[end]) == std::string_view::npos) continue;
      const std::string_view path = last_word(text.substr(0, at));
      const std::string_view before = text.substr(0, at - path.size());
      const bool is_whole = path.empty() || path.ends_with('/');
      if (is_whole && begins_command(before) && !is_in_comment(before)) return std::string(name);
    }
  return "";
}

}  // namespace dts::convert
