// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/shapes.hpp"

#include "core/convert/expand/node_values.hpp"
#include "core/convert/words/names.hpp"

#include <algorithm>

namespace dts::convert {

using shell::Command;
using shell::Statement;
using shell::Statements;

const Command* whole_command(const Statement& statement) {
  if (statement.background || statement.pipelines.size() != 1) return nullptr;
  const shell::Pipeline& pipeline = statement.pipelines[0];
  const bool is_whole = !pipeline.negated && pipeline.commands.size() == 1 &&
                        pipeline.commands[0].redirections.empty();
  return is_whole ? &pipeline.commands[0] : nullptr;
}

bool has_background(const Statements& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const Statement& one) {
    if (one.background) return true;
    for (const shell::Pipeline& pipeline : one.pipelines)
      for (const Command& command : pipeline.commands)
        if (std::any_of(command.bodies.begin(), command.bodies.end(), has_background)) return true;
    return false;
  });
}

bool ends_script(const Statements& statements) {
  bool ends = false;
  each_command(statements, [&ends](const Command& command) {
    const std::string verb = first_word(command);
    ends = ends || verb == "exit" || verb == "return";
  });
  return ends;
}

const Command* piped_list(const Statement& statement) {
  if (statement.background || statement.pipelines.size() != 1) return nullptr;
  const shell::Pipeline& pipeline = statement.pipelines[0];
  const Command& list = pipeline.commands[0];
  const bool is_list = list.kind == Command::Kind::group || list.kind == Command::Kind::subshell;
  if (!is_list || pipeline.negated || pipeline.commands.size() != 2 || list.bodies.size() != 1 ||
      list.bodies[0].empty() || !list.redirections.empty())
    return nullptr;
  const Command& tee = pipeline.commands[1];
  if (first_word(tee) != "tee") return nullptr;
  const bool sets =
      std::any_of(list.bodies[0].begin(), list.bodies[0].end(), [](const Statement& one) {
        const SetNames names = set_names(one);
        return !names.variables.empty() || !names.arrays.empty() || names.changes_folder;
      });
  return sets || has_background(list.bodies[0]) || ends_script(list.bodies[0]) ? nullptr : &list;
}

bool names_nodes(const Statements& statements) {
  bool names = false;
  each_command(statements, [&names](const Command& command) {
    names = names || nodelist_of(command, command.span.end).has_value() ||
            std::any_of(command.words.begin(), command.words.end(), [](const shell::Word& word) {
              const std::string text = word.pieces.empty() ? "" : word.pieces[0].text;
              return text.starts_with("--node_rank") || text.starts_with("--node-rank") ||
                     text.starts_with("--machine_rank");
            });
  });
  return names;
}

bool leaves_loop(const Statements& statements) {
  bool leaves = ends_script(statements);
  each_command(statements, [&leaves](const Command& command) {
    const std::string verb = first_word(command);
    leaves = leaves || verb == "break" || verb == "continue";
  });
  return leaves;
}

}  // namespace dts::convert
