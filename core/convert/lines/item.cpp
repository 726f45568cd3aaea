// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/item.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/errexit.hpp"
#include "core/convert/words/extent.hpp"
#include "core/lint/rules/facts.hpp"
#include "core/lint/script/program.hpp"

#include <algorithm>
#include <optional>

namespace dts::convert {
namespace {

Item item_of(const lint::Subject& subject, const shell::Statement& statement) {
  Item item;
  item.statement = &statement;
  item.spans.push_back(with_sign(subject.text, statement));
  item.source = std::string(
      subject.text.substr(statement.span.begin, statement.span.end - statement.span.begin));
  const Span documents = documents_of(subject.text, subject.script, statement);
  if (documents.begin < documents.end) {
    item.spans.push_back(documents);
    item.tail =
        "\n" + std::string(subject.text.substr(documents.begin, documents.end - documents.begin));
    item.source += item.tail;
  }
  item.used = used_names(item.source);
  item.words = words_of(item.source);
  item.sets = set_names(statement);
  return item;
}

// set -a: what is assigned from then on is exported; nullopt: the statement does not say.
std::optional<bool> exports_all(const shell::Statement& statement) {
  const shell::Command* command = simple_command(statement);
  if (command == nullptr || first_word(*command) != "set") return std::nullopt;
  std::optional<bool> exports;
  for (std::size_t i = 1; i < command->words.size(); ++i) {
    const std::string word = literal_of(command->words[i]);
    if (word == "--" || word.empty() || (word[0] != '-' && word[0] != '+')) break;
    const bool is_named = word.ends_with('o') && i + 1 < command->words.size();
    if (word.find('a') != std::string::npos ||
        (is_named && literal_of(command->words[++i]) == "allexport"))
      exports = word[0] == '-';
  }
  return exports;
}

// eval "$(conda shell.bash hook)": what these print defines no function but those of their own
// names, which are no programs anyway.
bool is_hook_of_tool(std::string_view text) {
  constexpr std::string_view k_tools[] = {"conda",
                                          "mamba",
                                          "micromamba",
                                          "pixi",
                                          "pyenv",
                                          "spack",
                                          "module",
                                          "modulecmd",
                                          "lmod",
                                          "direnv",
                                          "ssh-agent",
                                          "dircolors",
                                          "opam",
                                          "brew",
                                          "resize",
                                          "perl",
                                          "poetry",
                                          "uv"};
  const std::string begin = std::string(1, lint::k_unknown) + "(";
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return is_one_of(k_tools, lint::base_name(std::string(text.substr(0, text.find_first_of(" )")))));
}

// It reads a file or evaluates a text whose functions later lines may call; files of environments
// are assumed to define none.
bool reads_functions(const lint::Run& run) {
  constexpr std::string_view k_environments[] = {
      "activate", "conda.sh", "mamba.sh", "modules.sh", "lmod.sh", "bash", "profile"};
  if (run.words.size() < 2) return false;
  const std::string& first = run.words[1].value.text;
  if (run.name() == "source" || run.name() == ".")
    return !is_one_of(k_environments, lint::base_name(first));
  return run.name() == "eval" && first.starts_with(lint::k_unknown) && !is_hook_of_tool(first);
}

// gmx grompp -f md.mdp; functions that change the shell rarely take options.
bool has_options(const lint::Run& run) {
  return std::any_of(run.words.begin() + 1, run.words.end(), [](const lint::ExpandedWord& word) {
    return word.value.text.size() > 1 && word.value.text[0] == '-';
  });
}

// `has_login_shell`: #!/bin/bash -l. The shell reads the user's files, which may define functions.
void find_calls(std::vector<Item>& items, bool has_login_shell) {
  Names functions;
  bool reads_files = false;
  for (Item& item : items) {
    item.follows_file = reads_files;
    for (const lint::Run* run : item.runs) {
      const bool may_be_of_login = has_login_shell && !has_options(*run);
      item.calls_own_function = item.calls_own_function || functions.count(run->name()) > 0;
      item.calls_function =
          item.calls_function || reads_files || may_be_of_login || item.calls_own_function;
    }
    reads_files =
        reads_files || std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
          return reads_functions(*run);
        });
    functions.insert(item.sets.functions.begin(), item.sets.functions.end());
  }
}

}  // namespace

bool Item::only_sets() const {
  const shell::Command* command = simple_command(*statement);
  if (statement->background) return false;
  if (command == nullptr)
    return statement->pipelines.size() == 1 && statement->pipelines[0].commands.size() == 1 &&
           statement->pipelines[0].commands[0].kind == shell::Command::Kind::function;
  if (!command->redirections.empty()) return false;
  if (command->words.empty()) return !command->assignments.empty();
  const std::string verb = first_word(*command);
  return verb == "declare" || verb == "typeset" || verb == "readonly" || verb == "export" ||
         verb == "read" || verb == "mapfile" || verb == "readarray" || verb == "let";
}

const std::string* only_variable(const Item& item) {
  const SetNames& sets = item.sets;
  const shell::Command* command = simple_command(*item.statement);
  const bool is_plain = command != nullptr && item.only_sets() &&
                        command->assignments.size() == 1 && sets.variables.size() == 1 &&
                        sets.arrays.empty() && sets.functions.empty() && item.tail.empty() &&
                        !command->assignments[0].appends;
  return is_plain ? &*sets.variables.begin() : nullptr;
}

bool only_computes(const Item& item) {
  bool computes = true;
  each_command(*item.statement, [&computes](const shell::Command& command) {
    if (command.words.empty()) return;
    constexpr std::string_view k_computing[] = {
        "echo", "printf", "bc", "expr", "date", "basename", "dirname", "seq", "tr", "cut", "head"};
    const std::string verb = first_word(command);
    computes = computes && command.redirections.empty() &&
               (is_one_of(k_computing, verb) || verb == "export" || verb == "readonly");
  });
  return computes;
}

std::vector<Item> items_of(const lint::Subject& subject) {
  std::vector<Item> items;
  bool are_exported = false;
  for (const shell::Statement& statement : subject.script.statements) {
    items.push_back(item_of(subject, statement));
    are_exported = exports_all(statement).value_or(are_exported);
    SetNames& sets = items.back().sets;
    if (are_exported) sets.exported.insert(sets.variables.begin(), sets.variables.end());
  }
  for (const lint::Run& run : subject.runs.runs) {
    if (run.statement >= items.size()) continue;
    const bool is_own = run.around.inner == 0 && !run.around.is_in_substitution;
    (is_own ? items[run.statement].runs : items[run.statement].inside).push_back(&run);
  }
  find_calls(items, is_set_at_start(subject.text, "--login", 'l'));
  for (const lint::Run* run : lint::outer_work_of(subject))
    if (run->around.inner == 0 && !run->around.is_in_substitution && run->statement < items.size())
      items[run->statement].mains.push_back(run);
  return items;
}

bool begins_with_option(const Item& item) {
  const shell::Command* command = simple_command(*item.statement);
  const std::string word = command == nullptr ? "" : first_word(*command);
  return word.size() > 1 && word.starts_with('-');
}

bool waits(const Item& item) {
  return std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    return run->name() == "wait";
  });
}

bool leaves_running(const Item& item) {
  return item.statement->background ||
         (!waits(item) &&
          std::any_of(item.mains.begin(), item.mains.end(), [](const lint::Run* run) {
            return run->around.is_background;
          }));
}

bool starts_processes(const Item& item, const lint::Subject& subject) {
  const auto& runs = subject.runs.runs;
  return std::any_of(runs.begin(), runs.end(), [&](const lint::Run& run) {
    return run.launch.starts_processes && !run.around.is_in_substitution &&
           run.span.begin >= item.span().begin && run.span.end <= item.span().end;
  });
}

std::string verb_of(const lint::Run& run) {
  const lint::Launch& launch = run.launch;
  return launch.launcher == lint::Launcher::none ? lint::base_name(run.name()) : launch.program;
}

}  // namespace dts::convert
