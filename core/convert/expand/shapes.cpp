// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/shapes.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/known/node_values.hpp"
#include "core/convert/words/names.hpp"
#include "core/convert/words/sole_program.hpp"

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
        return !names.variables.empty() || !names.arrays.empty() || !names.limits.empty() ||
               names.changes_folder;
      });
  return sets || has_background(list.bodies[0]) || ends_script(list.bodies[0]) ? nullptr : &list;
}

bool names_nodes(const Statements& statements) {
  bool names = false;
  each_command(statements, [&names](const Command& command) {
    names = names || own_nodes_of(command, command.span.end).has_value() ||
            std::any_of(command.words.begin(), command.words.end(), [](const shell::Word& word) {
              const std::string text = word.pieces.empty() ? "" : word.pieces[0].text;
              return text.starts_with("--node_rank") || text.starts_with("--node-rank") ||
                     text.starts_with("--machine_rank");
            });
  });
  return names;
}

namespace {

bool is_step_of_part(const Statement& one) {
  if (one.pipelines.size() != 1 || one.pipelines[0].commands.size() != 1) return false;
  const Command& command = one.pipelines[0].commands[0];
  if (first_word(command) != "srun") return false;
  const auto has = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(command.words.begin(), command.words.end(), [&](const shell::Word& word) {
      const std::string_view text =
          word.pieces.empty() ? "" : std::string_view(word.pieces[0].text);
      return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return text.starts_with(name);
      });
    });
  };
  return has({"-n", "--ntasks"}) && has({"--exact",
                                         "--exclusive",
                                         "--gpus",
                                         "--gres",
                                         "-c",
                                         "--cpus-per-task",
                                         "--mem",
                                         "-G"});
}

}  // namespace

bool starts_steps_beside(const Statements& statements) {
  return has_background(statements) &&
         std::all_of(statements.begin(), statements.end(), [](const Statement& one) {
           return one.background ? is_step_of_part(one) : !has_background({one});
         });
}

namespace {

// exit 1, exit $CODE: the script fails, as a run does behind a step that failed. `exit` alone and
// `exit 0` may be the end of a loop that tries until a program has succeeded.
bool fails(const Command& exit) {
  if (exit.words.size() != 2) return false;
  const std::string literal = literal_of(exit.words[1]);
  const auto code = parse_number(literal);
  return literal.empty() || (code && *code % 256 != 0);
}

}  // namespace

bool leaves_loop(const Statements& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const Statement& one) {
    const bool only_fails = sole_program(one) != nullptr && whole_command(one) == nullptr;
    bool leaves = false;
    each_command(one, [&](const Command& command) {
      const std::string verb = first_word(command);
      leaves = leaves || verb == "break" || verb == "continue" || verb == "return" ||
               (verb == "exit" && !only_fails && !fails(command));
    });
    return leaves;
  });
}

}  // namespace dts::convert
