// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/own_launcher.hpp"

#include "core/base/text/text.hpp"
#include "core/plan/program/inner_program.hpp"
#include "core/plan/program/known_launchers.hpp"
#include "core/plan/program/shell_words.hpp"

#include <algorithm>
#include <span>

namespace dts::plan {
namespace {

using Kind = OwnLauncher::Kind;

constexpr int k_deepest = 16;  // nesting of programs that run programs

// Searches one argument list: the command's, or that of a command in a shell's text.
class Search {
 public:
  explicit Search(CommandWords all) : all_(all) {}

  [[nodiscard]] OwnLauncher in(CommandWords words, int depth) const;

 private:
  [[nodiscard]] OwnLauncher in_table(const std::string& name,
                                     CommandWords words,
                                     std::size_t rest) const;
  [[nodiscard]] OwnLauncher of_python(CommandWords words, int depth) const;
  [[nodiscard]] OwnLauncher of_shell(CommandWords words, int depth) const;
  [[nodiscard]] OwnLauncher of_env(CommandWords words, int depth) const;
  [[nodiscard]] OwnLauncher in_text(const std::string& text, int depth) const;
  [[nodiscard]] OwnLauncher behind_wrapper(const std::string& name,
                                           CommandWords words,
                                           int depth) const;

  [[nodiscard]] std::size_t index_of(const std::string& word) const {
    return static_cast<std::size_t>(&word - all_.data());
  }

  CommandWords all_;
};

OwnLauncher behind(std::string wrapper, OwnLauncher found) {
  if (found.kind != Kind::none)
    found.wrapper = found.wrapper.empty() ? std::move(wrapper) : wrapper + " " + found.wrapper;
  return found;
}

// The known launcher of that name; its arguments are the words from `rest` on.
OwnLauncher Search::in_table(const std::string& name, CommandWords words, std::size_t rest) const {
  const auto row = known_launcher(name, words.subspan(rest));
  if (!row) return {};
  const KnownLauncher& known = *row->launcher;
  OwnLauncher found;
  found.kind = known.kind;
  found.name = name.rfind("-m ", 0) == 0 ? "python " + name : name;
  if (!known.verb.empty()) found.name += " " + std::string(known.verb);
  found.words = {words.begin(), words.end()};
  found.arguments = rest + row->verb_words;
  found.place = {.argument = index_of(words[found.arguments - 1]) + 1};
  found.count = known.count;
  found.counts_all = known.counts_all;
  found.place_options.assign(known.place_options.begin(), known.place_options.end());
  found.instead = known.instead;
  found.single = known.single;
  return found;
}

OwnLauncher Search::of_python(CommandWords words, int depth) const {
  const auto program = program_of_python(words);
  if (!program) return {};
  if (program->is_module) return in_table("-m " + words[program->at], words, program->at + 1);
  return in(words.subspan(program->at), depth + 1);  // python /usr/bin/torchrun
}

// Places are offsets in `text`.
OwnLauncher Search::in_text(const std::string& text, int depth) const {
  for (const ShellCommand& command : split_shell(text)) {
    OwnLauncher found = Search(command.words).in(command.words, depth + 1);
    if (found.kind == Kind::none || found.kind == Kind::submission) continue;
    if (found.place && !found.place->offset)
      found.place = OwnLauncher::Place{index_of(text), command.ends.at(found.place->argument - 1)};
    else
      found.place.reset();
    return found;
  }
  return {};
}

OwnLauncher Search::of_shell(CommandWords words, int depth) const {
  const auto text = text_of_shell(words);
  if (!text) return {};
  return behind(std::string(file_name_of(words[0])) + " -c", in_text(words[*text], depth));
}

// env -S "torchrun train.py": a command in one word, as in the first line of a script.
OwnLauncher Search::of_env(CommandWords words, int depth) const {
  for (std::size_t i = 1; i + 1 < words.size() && words[i].rfind('-', 0) == 0; ++i)
    if (words[i] == "-S" || words[i] == "--split-string")
      return behind("env -S", in_text(words[i + 1], depth));
  return {};
}

OwnLauncher Search::behind_wrapper(const std::string& name, CommandWords words, int depth) const {
  if (name == "env")
    if (OwnLauncher found = of_env(words, depth); found.kind != Kind::none) return found;
  const auto row = known_wrapper(name, words);
  if (!row) return {};
  std::string wrapper = name;
  if (!row->wrapper->verb.empty()) wrapper += " " + std::string(row->wrapper->verb);
  OwnLauncher found = row->is_module ? in_table("-m " + words[row->at], words, row->at + 1)
                                     : in(words.subspan(row->at), depth + 1);
  if (row->wrapper->hides_variables) found.hidden_behind = wrapper;
  return behind(std::move(wrapper), std::move(found));
}

OwnLauncher Search::in(CommandWords words, int depth) const {
  words = without_assignments(words);
  if (words.empty() || depth > k_deepest) return {};
  const std::string name(file_name_of(words.front()));
  if (OwnLauncher found = in_table(name, words, 1); found.kind != Kind::none) return found;
  if (is_python(name)) return of_python(words, depth);
  if (is_shell(name)) return of_shell(words, depth);
  return behind_wrapper(name, words, depth);
}

// "--num-processes" of "--num_processes=8".
std::string option_name(std::string_view word) {
  std::string name(word.substr(0, word.find('=')));
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// True if `words[i]` is the program: the options behind it are its own. `-m` and the like are flags
// of launchers, which say what kind of program follows.
bool is_program(const std::vector<std::string>& words, std::size_t first, std::size_t i) {
  constexpr std::string_view k_kinds[] = {"-m", "--module", "--no-python"};
  if (is_script(words[i])) return true;
  return i > first && !words[i].starts_with('-') && words[i - 1].starts_with('-') &&
         is_one_of(k_kinds, option_name(words[i - 1]));
}

}  // namespace

OwnLauncher find_own_launcher(const std::vector<std::string>& command) {
  return Search(command).in(command, 0);
}

bool starts_processes_of_node(const OwnLauncher& launcher) {
  return launcher.kind == Kind::torchrun || launcher.kind == Kind::node;
}

std::size_t program_at(const OwnLauncher& launcher) {
  std::size_t i = launcher.arguments;
  while (i < launcher.words.size() && !is_program(launcher.words, launcher.arguments, i)) ++i;
  return i;
}

std::optional<std::string> option_of(const OwnLauncher& launcher, std::string_view names) {
  const std::vector<std::string>& words = launcher.words;
  const auto known = split(names, ' ');
  const auto is_named_so = [&](const std::string& word) {
    return std::any_of(known.begin(), known.end(), [&](const std::string& name) {
      return option_name(name) == option_name(word);
    });
  };
  const std::size_t end = program_at(launcher);
  for (std::size_t i = launcher.arguments; i < end; ++i) {
    if (names.empty() || words[i].empty() || !is_named_so(words[i])) continue;
    if (const std::size_t equals = words[i].find('='); equals != std::string::npos)
      return words[i].substr(equals + 1);
    return i + 1 < words.size() ? words[i + 1] : std::string();
  }
  return std::nullopt;
}

}  // namespace dts::plan
