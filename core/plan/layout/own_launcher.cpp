// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/own_launcher.hpp"

#include "core/base/text/text.hpp"
#include "core/plan/layout/known_launchers.hpp"
#include "core/plan/layout/shell_words.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>

namespace dts::plan {
namespace {

using Kind = OwnLauncher::Kind;
using Words = std::span<const std::string>;

constexpr int k_deepest = 16;  // programs that run programs

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
}

// "python", "python3", "python3.11", "pypy3"
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

// The index at which the program begins in the words after a wrapper's name; words.size(): nowhere.
std::size_t skip_options(Words words,
                         std::size_t at,
                         std::initializer_list<std::string_view> with_value,
                         unsigned operands) {
  const auto takes_value = [&](const std::string& word) {
    return std::find(with_value.begin(), with_value.end(), word) != with_value.end();
  };
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") continue;
    if (takes_value(word)) {
      ++at;
    } else if ((word.empty() || word[0] != '-') && !is_assignment(word)) {
      if (operands == 0) break;
      --operands;
    }
  }
  return std::min(at, words.size());
}

// Looks into one argument list: the command's, or a command of a shell's text.
class Search {
 public:
  explicit Search(Words all) : all_(all) {}

  [[nodiscard]] OwnLauncher in(Words words, int depth) const;

 private:
  [[nodiscard]] OwnLauncher in_table(const std::string& name, Words words, std::size_t rest) const;
  [[nodiscard]] OwnLauncher of_python(Words words, int depth) const;
  [[nodiscard]] OwnLauncher of_shell(Words words, int depth) const;
  [[nodiscard]] OwnLauncher in_text(const std::string& text, int depth) const;
  [[nodiscard]] OwnLauncher behind_wrapper(const std::string& name, Words words, int depth) const;

  [[nodiscard]] std::size_t index_of(const std::string& word) const {
    return static_cast<std::size_t>(&word - all_.data());
  }

  Words all_;
};

OwnLauncher behind(std::string wrapper, OwnLauncher found) {
  if (found.kind != Kind::none)
    found.wrapper = found.wrapper.empty() ? std::move(wrapper) : wrapper + " " + found.wrapper;
  return found;
}

// How many of the words from `rest` on are the verb; nullopt: others.
std::optional<std::size_t> verb_length(std::string_view verb, Words words, std::size_t rest) {
  if (verb.empty()) return 0;
  const auto parts = split(std::string(verb), ' ');
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (rest + i >= words.size() || words[rest + i] != parts[i]) return std::nullopt;
  return parts.size();
}

// The launcher of that name in the table, followed by the words from `rest` on.
OwnLauncher Search::in_table(const std::string& name, Words words, std::size_t rest) const {
  for (const KnownLauncher& known : known_launchers()) {
    if (name != known.program) continue;
    const auto verb = verb_length(known.verb, words, rest);
    if (!verb) continue;
    OwnLauncher found;
    found.kind = known.kind;
    found.name = name.rfind("-m ", 0) == 0 ? "python " + name : name;
    if (!known.verb.empty()) found.name += " " + std::string(known.verb);
    found.words = {words.begin(), words.end()};
    found.arguments = rest + *verb;
    found.place = {.argument = index_of(words[rest + *verb - 1]) + 1};
    found.count = known.count;
    found.counts_all = known.counts_all;
    found.told = known.told;
    found.instead = known.instead;
    return found;
  }
  return {};
}

OwnLauncher Search::of_python(Words words, int depth) const {
  const std::initializer_list<std::string_view> k_with_value = {"-W", "-X", "-Q"};
  for (std::size_t i = 1; i < words.size() && words[i].size() > 1 && words[i][0] == '-'; ++i) {
    if (words[i] == "-c") return {};
    if (words[i] == "-m" && i + 1 < words.size())
      return in_table("-m " + words[i + 1], words, i + 2);
    if (std::find(k_with_value.begin(), k_with_value.end(), words[i]) != k_with_value.end()) ++i;
  }
  // python /usr/bin/torchrun
  const std::size_t script = skip_options(words, 1, k_with_value, 0);
  return script < words.size() ? in(words.subspan(script), depth + 1) : OwnLauncher{};
}

// The launcher's place is then in that text.
OwnLauncher Search::in_text(const std::string& text, int depth) const {
  for (const ShellCommand& command : split_shell(text)) {
    OwnLauncher found = Search(command.words).in(command.words, depth + 1);
    if (found.kind == Kind::none) continue;
    if (found.place && !found.place->offset)
      found.place = OwnLauncher::Place{index_of(text), command.ends.at(found.place->argument - 1)};
    else
      found.place.reset();
    return found;
  }
  return {};
}

// bash -euo pipefail -c 'TEXT'; a shell script would have to be read.
OwnLauncher Search::of_shell(Words words, int depth) const {
  const auto is_option = [](const std::string& word) {
    return word.size() > 1 && (word[0] == '-' || word[0] == '+');
  };
  for (std::size_t i = 1; i + 1 < words.size() && is_option(words[i]); ++i) {
    const std::string& word = words[i];
    const bool is_long = word.rfind("--", 0) == 0;
    if (word == "--rcfile" || word == "--init-file" || (!is_long && word.back() == 'o'))
      ++i;  // its value
    else if (!is_long && word.find('c') != std::string::npos)
      return behind(std::string(file_name_of(words[0])) + " -c", in_text(words[i + 1], depth));
  }
  return {};
}

OwnLauncher Search::behind_wrapper(const std::string& name, Words words, int depth) const {
  for (const KnownWrapper& known : known_wrappers()) {
    if (name != known.program) continue;
    std::size_t at = 1;
    if (!known.verb.empty()) {
      at = skip_options(words, 1, known.with_value, 0);
      if (at >= words.size() || words[at] != known.verb) continue;
      ++at;
    }
    at = skip_options(words, at, known.with_value, known.operands);
    std::string wrapper = name;
    if (!known.verb.empty()) wrapper += " " + std::string(known.verb);
    const bool is_module =
        at < words.size() && (words[at - 1] == "-m" || words[at - 1] == "--module");
    if (name == "uv" && is_module)
      return behind(std::move(wrapper), in_table("-m " + words[at], words, at + 1));
    return behind(std::move(wrapper), in(words.subspan(at), depth + 1));
  }
  return {};
}

OwnLauncher Search::in(Words words, int depth) const {
  while (!words.empty() && is_assignment(words.front())) words = words.subspan(1);
  if (words.empty() || depth > k_deepest) return {};
  const std::string name(file_name_of(words.front()));
  if (OwnLauncher found = in_table(name, words, 1); found.kind != Kind::none) return found;
  if (is_named(name, "python") || is_named(name, "pypy")) return of_python(words, depth);
  for (const std::string_view shell : {"sh", "bash", "dash", "zsh", "ksh"})
    if (name == shell) return of_shell(words, depth);
  return behind_wrapper(name, words, depth);
}

// "--num-processes" of "--num_processes=8".
std::string option_name(std::string_view word) {
  std::string name(word.substr(0, word.find('=')));
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

bool is_script(std::string_view word) {
  return word.ends_with(".py") && word.substr(0, 1) != "-";
}

}  // namespace

OwnLauncher find_own_launcher(const std::vector<std::string>& command) {
  return Search(command).in(command, 0);
}

std::optional<std::string> option_of(const OwnLauncher& launcher, std::string_view names) {
  const std::vector<std::string>& words = launcher.words;
  const auto known = split(std::string(names), ' ');
  const auto is_named_so = [&](const std::string& word) {
    return std::any_of(known.begin(), known.end(), [&](const std::string& name) {
      return option_name(name) == option_name(word);
    });
  };
  for (std::size_t i = launcher.arguments; i < words.size() && !is_script(words[i]); ++i) {
    if (names.empty() || words[i].empty() || !is_named_so(words[i])) continue;
    if (const std::size_t equals = words[i].find('='); equals != std::string::npos)
      return words[i].substr(equals + 1);
    return i + 1 < words.size() ? words[i + 1] : std::string();
  }
  return std::nullopt;
}

}  // namespace dts::plan
