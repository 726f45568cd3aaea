// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include "core/spec/option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace dts::cli {
namespace {

bool is_option(const std::string& word) {
  return word.starts_with('-');
}

const CLI::App* command_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
    if (one->get_name() == name) return one;
  return nullptr;
}

// The command that the words before the cursor name, and where its own words begin.
struct Command {
  const CLI::App* app = nullptr;
  std::size_t begin = 0;
};

Command command_of(const CLI::App& app, const std::vector<std::string>& words) {
  Command command{&app, 0};
  // `submit` is the default command.
  if (words.size() > 1 && command_named(app, words[0]) == nullptr)
    return {command_named(app, "submit"), 0};
  while (command.begin + 1 < words.size()) {
    const CLI::App* next = command_named(*command.app, words[command.begin]);
    if (next == nullptr) break;
    command = {next, command.begin + 1};
  }
  return command;
}

const spec::Option* row_of(const CLI::Option& option) {
  for (const std::string& name : option.get_lnames())
    if (const spec::Option* row = spec::option_named("--" + name)) return row;
  return nullptr;
}

// The option whose value the cursor is at: the word before it, or, since bash also breaks words at
// `=`, the one before an `=`. nullptr if there is none.
const CLI::Option* option_before(const CLI::App& command, const std::vector<std::string>& words) {
  std::size_t at = words.size() - 1;
  const bool has_equals = at > 0 && words[at - 1] == "=";
  if (has_equals) --at;
  if (at == 0 || !is_option(words[at - 1])) return nullptr;
  const CLI::Option* option = command.get_option_no_throw(words[at - 1]);
  if (option == nullptr || option->get_items_expected_max() == 0) return nullptr;
  const spec::Option* row = row_of(*option);
  return row != nullptr && row->value.may_be_bare && !has_equals ? nullptr : option;
}

}  // namespace

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> completions(const CLI::App& app,
                                     const std::vector<std::string>& words,
                                     const std::vector<std::string>& runs) {
  if (words.empty() || std::find(words.begin(), words.end() - 1, "--") != words.end() - 1)
    return {};
  const std::string& begun = words.back();
  const Command command = command_of(app, words);
  std::vector<std::string> all;
  if (is_option(begun)) {
    all = option_names(command.app == &app ? *command_named(app, "submit") : *command.app);
  } else if (const CLI::Option* option = option_before(*command.app, words)) {
    if (const spec::Option* row = row_of(*option)) all = row->value.words;
  } else if (command.begin + 1 == words.size() && !command_names(*command.app).empty()) {
    all = command_names(*command.app);
  } else if (command.app->get_option_no_throw("job") != nullptr) {
    all = runs;
  }
  std::erase_if(all, [&](const std::string& word) { return !word.starts_with(begun); });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace dts::cli
