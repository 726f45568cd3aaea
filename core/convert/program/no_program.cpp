// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/no_program.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

bool is_function(const std::string& name, const ProgramContext& context) {
  const auto& statements = context.subject.script.statements;
  return std::any_of(statements.begin(), statements.end(), [&](const shell::Statement& one) {
    const shell::Command& command = one.pipelines[0].commands[0];
    return command.kind == shell::Command::Kind::function && command.name == name;
  });
}

}  // namespace

bool calls_function(const Item& item, const ProgramContext& context) {
  const bool is_plain = simple_command(*item.statement) != nullptr && !item.runs.empty();
  const std::string name = is_plain ? item.runs.front()->name() : "";
  const auto is_launcher = [](const std::string& word) { return lint::is_launcher(word); };
  return !name.empty() && is_function(name, context) &&
         std::none_of(item.words.begin(), item.words.end(), is_launcher);
}

void lose_program(const Item& item, const ProgramContext& context, Program& program) {
  const std::string name = program.words.empty() ? "" : plain(program.words[0]).value_or("");
  if (!name.empty() && is_function(name, context)) {
    program.losses.push_back(fmt::format(
        "`{}` is a function of the script, and what it starts depends on its arguments: write the "
        "command that it runs instead",
        name));
    program.words.clear();
    return;
  }
  if (!program.words.empty()) return;
  program.losses.emplace_back(
      "no program is left: its name comes from variables or arguments that are empty here; set "
      "them, or write the arguments after --");
  each_expansion({*item.statement}, [&](const shell::Piece& piece) {
    const bool is_variable = piece.kind == shell::Piece::Kind::parameter && !piece.text.empty() &&
                             shell::is_name_begin(piece.text[0]);
    if (is_variable && !piece.text.starts_with("SLURM") && !context.resolver.variable(piece.text))
      program.needs.insert(piece.text);
  });
}

}  // namespace dts::convert
