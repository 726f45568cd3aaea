// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/job_name.hpp"

#include "core/plan/program/inner_program.hpp"
#include "core/plan/program/shell_words.hpp"
#include "core/spec/validate.hpp"

#include <algorithm>

namespace dts::plan {
namespace {

constexpr int k_deepest_name = 16;  // nesting of programs that run programs

std::string name_behind(CommandWords words, int depth);

std::string name_of_module(std::string_view module) {
  return std::string(module.substr(module.find_last_of('.') + 1));  // npos + 1 is 0
}

// The words after the launcher's name and verb: a program, a torchtune recipe, or a configuration
// file. It is unknown which options take a value, so a word after an option may be one.
std::string name_in_launcher(std::string_view launcher, CommandWords rest) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (is_script(rest[i])) return std::string(file_name_of(rest[i]));
    if ((rest[i] == "-m" || rest[i] == "--module") && i + 1 < rest.size())
      return name_of_module(rest[i + 1]);
  }
  const auto is_option = [](const std::string& word) {
    return word.size() > 1 && word[0] == '-' && word.find('=') == std::string::npos;
  };
  for (std::size_t i = 0; i < rest.size(); ++i)
    if (!rest[i].empty() && rest[i][0] != '-' && (i == 0 || !is_option(rest[i - 1])))
      return std::string(file_name_of(rest[i]));
  return std::string(launcher);
}

std::string name_of_python(const std::string& python, CommandWords words, int depth) {
  const auto program = program_of_python(words);
  if (!program) return python;  // program text is not a name
  if (!program->is_module) return name_behind(words.subspan(program->at), depth + 1);
  const std::string& module = words[program->at];
  const CommandWords rest = words.subspan(program->at + 1);
  const auto launcher = known_launcher("-m " + module, rest);
  return launcher ? name_in_launcher(name_of_module(module), rest.subspan(launcher->verb_words))
                  : name_of_module(module);
}

// The first launcher or Python script in a shell's text; with other commands, there are too many to
// choose from.
std::string name_in_text(const std::string& shell, const std::string& text, int depth) {
  for (const ShellCommand& command : split_shell(text)) {
    const CommandWords words = without_assignments(command.words);
    if (words.empty()) continue;
    const std::string name(file_name_of(words.front()));
    const bool runs_another = is_python(name) || is_shell(name) || known_wrapper(name, words) ||
                              known_launcher(name, words.subspan(1));
    const std::string behind = runs_another ? name_behind(words, depth + 1) : name;
    if (behind != name) return behind;
  }
  return shell;
}

std::string name_behind(CommandWords words, int depth) {
  words = without_assignments(words);
  if (words.empty()) return "job";
  const std::string name(file_name_of(words.front()));
  const CommandWords rest = words.subspan(1);
  if (depth > k_deepest_name) return name;
  if (const auto launcher = known_launcher(name, rest))
    return name_in_launcher(name, rest.subspan(launcher->verb_words));
  if (is_python(name)) return name_of_python(name, words, depth);
  if (const auto text = is_shell(name) ? text_of_shell(words) : std::nullopt)
    return name_in_text(name, words[*text], depth);
  if (const auto wrapper = known_wrapper(name, words); wrapper && wrapper->at < words.size())
    return wrapper->is_module ? name_of_module(words[wrapper->at])
                              : name_behind(words.subspan(wrapper->at), depth + 1);
  // For Perl and others: the first word that is not an option, unless an option holds the program's
  // text.
  constexpr std::string_view k_interpreters[]{
      "perl", "julia", "Rscript", "sh", "bash", "dash", "zsh", "ksh"};
  if (std::find(std::begin(k_interpreters), std::end(k_interpreters), name) ==
      std::end(k_interpreters))
    return name;
  for (const std::string& word : rest) {
    if (word == "-c" || word == "-e") break;
    if (!word.empty() && word[0] != '-') return std::string(file_name_of(word));
  }
  return name;
}

}  // namespace

std::string default_job_name(const std::vector<std::string>& command) {
  std::string name = command.empty() ? "dttrain" : name_behind(command, 0);
  if (const std::size_t dot = name.find_last_of('.'); dot != std::string::npos && dot > 0)
    name.resize(dot);
  return spec::folder_name(name).substr(0, 64);
}

std::string not_interactive(std::string job_name) {
  if (job_name == "bash" || job_name == "interactive") job_name += "-job";
  return job_name;
}

}  // namespace dts::plan
