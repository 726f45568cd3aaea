// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/script_file.hpp"

#include "core/base/text/text.hpp"
#include "core/plan/program/inner_program.hpp"

#include <algorithm>
#include <string_view>

namespace dts::plan {
namespace {

constexpr int k_deepest_script = 16;  // nesting of programs that run programs

using Script = std::optional<std::string>;

Script script_behind(CommandWords words, int depth);

// The value of an option may follow it as a word of its own: "--chdir=/x" and "--chdir /x".
bool has_option(CommandWords words, std::string_view options) {
  const auto names = split(options, ' ');
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.starts_with('-') && is_one_of(names, word.substr(0, word.find('=')));
  });
}

// `rest`: the words after a launcher and its verb. The launchers' options are not known, so a word
// after one may be its value; the first that follows no option is the program.
Script script_of_launcher(CommandWords rest, int depth) {
  // A module or a program that is no script; another folder, or a container (srun, mpirun).
  constexpr std::string_view k_without =
      "-m --module --no_python --no-python --chdir -D --wdir -wdir -wd --container-image";
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::string& word = rest[i];
    if (has_option(rest.subspan(i, 1), k_without)) return std::nullopt;
    if (word.starts_with('-')) continue;
    if (is_script(word)) return word;
    const bool may_be_value =
        i > 0 && rest[i - 1].starts_with('-') && rest[i - 1].find('=') == std::string::npos;
    if (!may_be_value || is_python(file_name_of(word)))
      return script_behind(rest.subspan(i), depth + 1);
  }
  return std::nullopt;
}

Script script_of_python(CommandWords words, int depth) {
  const auto program = program_of_python(words);
  if (!program) return std::nullopt;
  if (!program->is_module) return words[program->at];
  const CommandWords rest = words.subspan(program->at + 1);
  const auto launcher = known_launcher("-m " + words[program->at], rest);
  return launcher ? script_of_launcher(rest.subspan(launcher->verb_words), depth) : std::nullopt;
}

Script script_of_shell(CommandWords words) {
  if (text_of_shell(words)) return std::nullopt;
  for (const std::string& word : words.subspan(1)) {
    const bool is_option = word.starts_with('-') || word.starts_with('+');
    if (!is_option) return word.ends_with(".sh") ? std::optional(word) : std::nullopt;
    if (!word.starts_with("--") && word.find('s') != std::string::npos)
      return std::nullopt;  // bash -s: it reads its standard input
  }
  return std::nullopt;
}

Script script_of_wrapper(CommandWords words, const FoundWrapper& found, int depth) {
  const CommandWords own = words.first(std::min(found.at, words.size()));
  const KnownWrapper& wrapper = *found.wrapper;
  const bool runs_elsewhere = wrapper.is_container ||
                              is_container_runtime(file_name_of(words.front())) ||
                              has_option(own, wrapper.folder_options);
  if (found.is_module || found.at >= words.size() || runs_elsewhere) return std::nullopt;
  const std::string& program = words[found.at];
  if (wrapper.program == "uv" && is_script(program)) return program;
  auto script = script_behind(words.subspan(found.at), depth + 1);
  // chroot, unshare -R: a wrapper that no row names may have another root.
  const bool may_be_elsewhere = wrapper.program.empty() && script && script->starts_with('/');
  return may_be_elsewhere ? std::nullopt : script;
}

Script script_behind(CommandWords words, int depth) {
  words = without_assignments(words);
  if (words.empty() || depth > k_deepest_script) return std::nullopt;
  const std::string name(file_name_of(words.front()));
  const CommandWords rest = words.subspan(1);
  if (const auto launcher = known_launcher(name, rest))
    return script_of_launcher(rest.subspan(launcher->verb_words), depth);
  if (is_python(name)) return script_of_python(words, depth);
  if (is_shell(name)) return script_of_shell(words);
  const auto wrapper = known_wrapper(name, words);
  return wrapper ? script_of_wrapper(words, *wrapper, depth) : std::nullopt;
}

}  // namespace

std::optional<std::string> script_file(const std::vector<std::string>& command) {
  const Script script = script_behind(command, 0);
  const bool is_address = script && script->find("://") != std::string::npos;  // uv run https://...
  return is_address ? std::nullopt : script;
}

}  // namespace dts::plan
