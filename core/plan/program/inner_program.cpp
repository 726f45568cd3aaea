// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/inner_program.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace dts::plan {
namespace {

bool is_named(std::string_view name, std::string_view stem) {
  return name.substr(0, stem.size()) == stem &&
         name.find_first_not_of("0123456789.", stem.size()) == std::string_view::npos;
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  const auto is_of_name = [](unsigned char c) {
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  };
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_of_name);
}

// The index in the words after a wrapper's name at which the program begins; words.size(): none.
std::size_t skip_options(CommandWords words,
                         std::size_t at,
                         const std::vector<std::string>& with_value,
                         unsigned operands) {
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") continue;
    if (!word.empty() && is_one_of(with_value, word)) {
      ++at;
    } else if ((word.empty() || word[0] != '-') && !is_assignment(word)) {
      if (operands == 0) break;
      --operands;
    }
  }
  return std::min(at, words.size());
}

// How many words of `rest` form the verb; nullopt: it is a different one.
std::optional<std::size_t> verb_length(std::string_view verb, CommandWords rest) {
  if (verb.empty()) return 0;
  const auto parts = split(verb, ' ');
  if (parts.size() > rest.size() || !std::equal(parts.begin(), parts.end(), rest.begin()))
    return std::nullopt;
  return parts.size();
}

// Whether `word` is certainly a program, not an argument of another one.
bool names_a_program(std::string_view word) {
  const std::string_view name = file_name_of(word);
  const auto launchers = known_launchers();
  return is_python(name) || is_shell(name) || is_wrapper_name(name) ||
         std::any_of(
             launchers.begin(), launchers.end(), [&](auto& row) { return row.program == name; });
}

// vtune -collect hotspots -- python3 train.py: a program that no row names, and the one behind its
// `--`.
std::optional<FoundWrapper> unknown_wrapper(CommandWords words) {
  static const KnownWrapper k_any{""};
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const auto at = static_cast<std::size_t>(dashes - words.begin()) + 1;
  if (at >= words.size() || !names_a_program(words[at])) return std::nullopt;
  return FoundWrapper{&k_any, at};
}

}  // namespace

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
}

bool is_python(std::string_view name) {
  return is_named(name, "python") || is_named(name, "pypy");
}

bool is_shell(std::string_view name) {
  constexpr std::string_view k_shells[]{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"};
  return std::find(std::begin(k_shells), std::end(k_shells), name) != std::end(k_shells);
}

bool is_script(std::string_view word) {
  return word.ends_with(".py") && word.substr(0, 1) != "-";
}

CommandWords without_assignments(CommandWords words) {
  while (!words.empty() && is_assignment(words.front())) words = words.subspan(1);
  return words;
}

std::optional<FoundLauncher> known_launcher(std::string_view name, CommandWords rest) {
  for (const KnownLauncher& known : known_launchers())
    if (name == known.program)
      if (const auto verb = verb_length(known.verb, rest)) return FoundLauncher{&known, *verb};
  return std::nullopt;
}

bool is_wrapper_name(std::string_view name) {
  const auto rows = known_wrappers();
  return std::any_of(rows.begin(), rows.end(), [&](auto& row) { return row.program == name; });
}

std::optional<FoundWrapper> known_wrapper(std::string_view name, CommandWords words) {
  for (const KnownWrapper& known : known_wrappers()) {
    if (name != known.program) continue;
    const auto with_value = split(known.with_value, ' ');
    std::size_t at = 1;
    if (!known.verb.empty()) {
      at = skip_options(words, 1, with_value, 0);
      if (at >= words.size() || words[at] != known.verb) continue;
      ++at;
    }
    at = skip_options(words, at, with_value, known.operands);
    const bool is_module =
        name == "uv" && at < words.size() && (words[at - 1] == "-m" || words[at - 1] == "--module");
    return FoundWrapper{&known, at, is_module};
  }
  return unknown_wrapper(words);
}

std::optional<PythonProgram> program_of_python(CommandWords words) {
  static const std::vector<std::string> k_with_value{"-W", "-X", "-Q"};
  for (std::size_t i = 1; i < words.size() && words[i].size() > 1 && words[i][0] == '-'; ++i) {
    if (words[i] == "-c") return std::nullopt;
    if (words[i] == "-m" && i + 1 < words.size()) return PythonProgram{i + 1, true};
    if (is_one_of(k_with_value, words[i])) ++i;
  }
  const std::size_t script = skip_options(words, 1, k_with_value, 0);
  if (script >= words.size()) return std::nullopt;
  return PythonProgram{script, false};
}

std::optional<std::size_t> text_of_shell(CommandWords words) {
  const auto is_option = [](const std::string& word) {
    return word.size() > 1 && (word[0] == '-' || word[0] == '+');
  };
  for (std::size_t i = 1; i + 1 < words.size() && is_option(words[i]); ++i) {
    const std::string& word = words[i];
    const bool is_long = word.rfind("--", 0) == 0;
    if (word == "--rcfile" || word == "--init-file" || (!is_long && word.back() == 'o'))
      ++i;  // its value
    else if (!is_long && word.find('c') != std::string::npos)
      return i + 1;
  }
  return std::nullopt;
}

}  // namespace dts::plan
