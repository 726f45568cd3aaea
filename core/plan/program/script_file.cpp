// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/script_file.hpp"

#include "core/base/text/text.hpp"
#include "core/plan/program/inner_program.hpp"

#include <algorithm>
#include <array>

namespace dts::plan {
namespace {

constexpr int k_deepest_script = 16;  // nesting of programs that run programs

std::optional<std::string> first_script(CommandWords words) {
  const auto found = std::find_if(
      words.begin(), words.end(), [](const std::string& word) { return is_script(word); });
  return found == words.end() ? std::nullopt : std::optional(*found);
}

std::optional<std::string> script_of_python(CommandWords words) {
  const auto program = program_of_python(words);
  if (!program) return std::nullopt;
  if (!program->is_module) return words[program->at];
  const CommandWords rest = words.subspan(program->at + 1);
  const auto launcher = known_launcher("-m " + words[program->at], rest);
  return launcher ? first_script(rest.subspan(launcher->verb_words)) : std::nullopt;
}

std::optional<std::string> script_of_shell(CommandWords words) {
  if (text_of_shell(words)) return std::nullopt;
  const auto found = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return !word.starts_with('-') && !word.starts_with('+');
  });
  return found != words.end() && found->ends_with(".sh") ? std::optional(*found) : std::nullopt;
}

// True if the words of a wrapper, up to its program, say that the program runs in a container or in
// another folder.
bool runs_elsewhere(std::string_view name, CommandWords own) {
  constexpr std::array<std::string_view, 9> k_containers{"singularity",
                                                         "apptainer",
                                                         "singularity_wrapper",
                                                         "docker",
                                                         "podman",
                                                         "podman-hpc",
                                                         "ch-run",
                                                         "enroot",
                                                         "shifter"};
  constexpr std::array<std::string_view, 4> k_folders{"--directory", "--cwd", "--chdir", "-C"};
  return is_one_of(k_containers, name) ||
         std::any_of(own.begin(), own.end(), [&](const std::string& word) {
           return is_one_of(k_folders, word.substr(0, word.find('=')));
         });
}

std::optional<std::string> script_behind(CommandWords words, int depth) {
  words = without_assignments(words);
  if (words.empty() || depth > k_deepest_script) return std::nullopt;
  const std::string name(file_name_of(words.front()));
  const CommandWords rest = words.subspan(1);
  if (const auto launcher = known_launcher(name, rest))
    return first_script(rest.subspan(launcher->verb_words));
  if (is_python(name)) return script_of_python(words);
  if (is_shell(name)) return script_of_shell(words);
  const auto wrapper = known_wrapper(name, words);
  if (!wrapper || wrapper->is_module || wrapper->at >= words.size() ||
      runs_elsewhere(name, words.first(wrapper->at)))
    return std::nullopt;
  const std::string& program = words[wrapper->at];
  if (name == "uv" && is_script(program)) return program;
  return script_behind(words.subspan(wrapper->at), depth + 1);
}

}  // namespace

std::optional<std::string> script_file(const std::vector<std::string>& command) {
  return script_behind(command, 0);
}

}  // namespace dts::plan
