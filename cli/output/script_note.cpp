// SPDX-License-Identifier: Apache-2.0
#include "cli/output/script_note.hpp"

#include "cli/output/launchers_in_script.hpp"
#include "core/base/files/trusted_file.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/text.hpp"
#include "core/lint/lint.hpp"
#include "core/lint/script/runs.hpp"
#include "core/plan/program/inner_program.hpp"
#include "core/plan/torch_variables.hpp"
#include "core/shell/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace dts::cli {
namespace {

constexpr std::uint64_t k_longest_script = std::uint64_t{1} << 20;  // an image may be executable

bool is_shell(std::string_view path) {
  return plan::is_shell(plan::file_name_of(path));
}

// "#!/bin/bash -e", "#!/usr/bin/env bash"
bool begins_as_shell_script(const std::string& text) {
  if (text.rfind("#!", 0) != 0) return false;
  const std::string line = text.substr(2, text.find('\n') - 2);
  for (const std::string& word : split(trim(line), ' '))
    if (is_shell(word)) return true;
  return false;
}

// The first word of each command; commands are separated by newlines, ; && || | and brackets.
std::vector<std::string> first_words(const std::string& script) {
  std::vector<std::string> words;
  for (std::string line : split(script, '\n')) {
    for (char& letter : line)
      if (std::string_view(";&|({").find(letter) != std::string_view::npos) letter = '\n';
    for (const std::string& part : split(line, '\n')) {
      const std::string_view command = trim(part);
      if (command.empty() || command.front() == '#') continue;
      words.emplace_back(command.substr(0, command.find_first_of(" \t")));
    }
  }
  return words;
}

// The script that the shell in `command` runs; empty if none.
std::string script_of(const std::vector<std::string>& command, std::string& name) {
  if (command.empty()) return {};
  std::size_t at = 0;
  if (is_shell(command[0])) {
    for (at = 1; at < command.size() && command[at].rfind('-', 0) == 0; ++at) {
      if (command[at].find('c') == std::string::npos || command[at].rfind("--", 0) == 0) continue;
      name = command[0] + " " + command[at];
      return at + 1 < command.size() ? command[at + 1] : std::string();
    }
    if (at >= command.size()) return {};
    name = command[at];
    return read_regular_file(name, k_longest_script).value_or("");
  }
  const auto path = find_program(command[0]);
  name = command[0];
  const std::string text =
      path ? read_regular_file(*path, k_longest_script).value_or("") : std::string();
  return begins_as_shell_script(text) ? text : std::string();
}

bool is_batch_script(const std::string& text) {
  return text.starts_with("#SBATCH") || text.find("\n#SBATCH") != std::string::npos;
}

// train.sbatch: train.toml
std::string convert_command(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return fmt::format(
      "dtsubmit convert {} -o {}.toml", path, has_suffix ? path.substr(0, dot) : path);
}

// The ways in which the shell exits with 0 although its program has failed, has not ended, or is
// not the one of the environment that was meant.
std::vector<std::string> silent_failures(const std::string& name, const std::string& script) {
  constexpr std::array<std::string_view, 5> k_rules{"conda-not-set-up",
                                                    "exit-lost",
                                                    "pipe-hides-exit",
                                                    "step-not-waited-for",
                                                    "wait-forgets-exit"};
  std::vector<std::string> notes;
  for (const lint::Finding& finding : lint::lint_script(script, {}))
    if (std::find(k_rules.begin(), k_rules.end(), finding.rule->id) != k_rules.end())
      notes.push_back(
          fmt::format("note: {}: {}; {}", name, finding.rule->title, finding.rule->fix));
  return notes;
}

// A command that ends at once, or whose output nobody needs after a stop.
bool is_quick(std::string_view name) {
  constexpr std::array<std::string_view, 8> k_quick{
      "cat", "date", "echo", "env", "hostname", "ls", "printf", "pwd"};
  return name.empty() || is_one_of(k_quick, name);
}

bool is_tee(const lint::Run& run) {
  const std::string_view first = plan::file_name_of(run.name());
  return first == "tee" ||
         (first == "stdbuf" &&
          std::any_of(run.words.begin(), run.words.end(), [](const lint::ExpandedWord& word) {
            return plan::file_name_of(word.value.text) == "tee";
          }));
}

bool ignores_signals(const lint::Run& run) {
  return run.name() == "trap" && run.words.size() > 1 && run.words[1].value.text.empty();
}

// A tee behind the program, unless the script ignores signals; empty if there is none.
std::string mortal_tee(const std::string& name, const std::string& script) {
  const shell::Script tree = shell::parse(script);
  const std::vector<lint::Run> runs = lint::runs_of(tree, script).runs;
  if (std::any_of(runs.begin(), runs.end(), ignores_signals)) return {};
  const bool has_tee = std::any_of(runs.begin(), runs.end(), [&](const lint::Run& sink) {
    return is_tee(sink) && std::any_of(runs.begin(), runs.end(), [&](const lint::Run& run) {
             return run.pipeline == sink.pipeline && run.span.begin < sink.span.begin &&
                    run.around.is_piped && !is_quick(plan::file_name_of(run.name()));
           });
  });
  if (!has_tee) return {};
  return fmt::format(
      "note: {} passes the output through tee, which a stop kills where Slurm signals every "
      "process of a rank (proctrack/linuxproc); the program then ends with the next line that it "
      "prints, before it has saved; omit tee, as each rank's output is in its log, or write "
      "`| (trap '' TERM; exec tee ...)`",
      name);
}

// "$RANK", "--addr=${MASTER_ADDR}": a variable of the ranks.
bool names_a_variable(const std::string& word) {
  const std::size_t dollar = word.find('$');
  if (dollar == std::string::npos || word.find_first_of(" \t\n") != std::string::npos) return false;
  const std::size_t begin = word.find_first_not_of('{', dollar + 1);
  if (begin == std::string::npos) return false;
  const std::string_view rest = std::string_view(word).substr(begin);
  const std::string_view name =
      rest.substr(0, rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
  return is_one_of(plan::k_torch_variables, name) || name.starts_with("DTSUBMIT_") ||
         name.starts_with("SLURM_");
}

// The first argument that holds a variable, where no shell replaces it; empty if there is none.
std::string literal_variable(const std::vector<std::string>& command) {
  if (std::any_of(command.begin(), command.end(), is_shell)) return {};
  const auto found = std::find_if(command.begin(), command.end(), names_a_variable);
  return found == command.end() ? std::string() : *found;
}

}  // namespace

std::string launcher_note(const plan::Plan& plan) {
  std::string name;
  const std::string script = script_of(plan.command, name);
  if (script.empty() || name.find(" -") != std::string::npos || is_batch_script(script)) return {};
  return join(notes_on_launchers(plan, name, script), "\n");
}

bool keeps_a_shell(const std::string& script) {
  const auto words = first_words(script);
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return words.size() > 1 && !has("exec") && !has("trap");
}

std::string script_note(const std::vector<std::string>& command) {
  std::string name;
  const std::string script = script_of(command, name);
  if (is_batch_script(script) && name.find(" -") == std::string::npos)
    return fmt::format(
        "note: {} is a batch script: here each rank runs it, and its #SBATCH lines are not read; "
        "`{}` makes a job file from it",
        name,
        convert_command(name));
  std::vector<std::string> notes = silent_failures(name, script);
  if (std::string note = mortal_tee(name, script); !note.empty()) notes.push_back(std::move(note));
  if (script.find("\r\n") != std::string::npos)
    notes.push_back(
        fmt::format("note: {} has DOS line endings, of which a shell takes a part for text: sed -i "
                    "'s/\\r$//' {}",
                    name,
                    shell_quote(name)));
  if (!script.empty() && keeps_a_shell(script))
    notes.push_back(fmt::format(
        "note: {} is a shell script that runs its program without `exec`: a stop signal is passed "
        "on to the program that it runs at that moment, but exit code 85 (saved) counts only if "
        "the script exits with it; `exec` before its last command ensures both",
        name));
  if (const std::string word = literal_variable(command); !word.empty())
    notes.push_back(fmt::format(
        "note: the program gets `{}` as it stands: there is no shell that replaces the variable; "
        "bash -c '...' is one",
        word));
  return join(notes, "\n");
}

std::string help_for_batch_script(const std::string& path) {
  if (!is_batch_script(read_regular_file(path, k_longest_script).value_or(""))) return {};
  return fmt::format("it is a batch script: `{}` makes a job file from it", convert_command(path));
}

std::string help_for_stray_word(const std::string& word) {
  const std::string help = help_for_batch_script(word);
  return help.empty() ? "the program to run goes after `--`: dtsubmit --nodes 2 -- python3 train.py"
                      : help;
}

}  // namespace dts::cli
