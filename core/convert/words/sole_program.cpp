// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/sole_program.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/text/text.hpp"
#include "core/convert/words/names.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Pipeline;
using shell::Statement;
using shell::Statements;

// `is_next`: `$?` is still the exit code of the program.
bool is_failing_exit(const Command& command, bool is_next) {
  if (first_word(command) != "exit" || command.words.size() > 2) return false;
  if (command.words.size() == 1) return is_next;
  const shell::Piece* piece = only_piece(command.words[1]);
  if (piece != nullptr && piece->kind == shell::Piece::Kind::parameter)
    return is_next && piece->text == "?" && piece->operation.empty();
  const auto code = parse_number(literal_of(command.words[1]));
  return code && *code % 256 != 0 && *code != static_cast<unsigned>(k_checkpointed) &&
         *code != static_cast<unsigned>(k_no_restart);
}

bool requeues(const Command& command) {
  return first_word(command) == "scontrol" && command.words.size() > 1 &&
         literal_of(command.words[1]) == "requeue";
}

bool only_says(const Command& command) {
  constexpr std::string_view k_says[] = {"echo", "printf", "date", ":", "true"};
  return command.kind == Command::Kind::simple && is_one_of(k_says, first_word(command)) &&
         std::all_of(command.redirections.begin(),
                     command.redirections.end(),
                     [](const shell::Redirection& one) { return one.sign == ">&"; });
}

const Command* foreground(const Statement& statement) {
  return statement.background ? nullptr : simple_command(statement);
}

bool only_says(const Statements& body) {
  return std::all_of(body.begin(), body.end(), [](const Statement& one) {
    const Command* command = foreground(one);
    return command != nullptr && only_says(*command);
  });
}

// `is_next`: as above, of its first command.
bool only_fails(const Statements& body, bool is_next) {
  if (body.empty()) return false;
  const Command* last = foreground(body.back());
  return last != nullptr && is_failing_exit(*last, is_next && body.size() == 1) &&
         std::all_of(body.begin(), body.end() - 1, [](const Statement& one) {
           const Command* command = foreground(one);
           return command != nullptr && (only_says(*command) || requeues(*command));
         });
}

bool is_plain(const Pipeline& pipeline) {
  return !pipeline.negated && pipeline.commands.size() == 1;
}

bool only_fails(const Pipeline& behind) {
  if (!is_plain(behind)) return false;
  const Command& one = behind.commands[0];
  if (one.kind == Command::Kind::simple) return is_failing_exit(one, true);
  return one.kind == Command::Kind::group && one.redirections.empty() && one.bodies.size() == 1 &&
         only_fails(one.bodies[0], true);
}

bool only_says(const Pipeline& behind) {
  return is_plain(behind) && only_says(behind.commands[0]);
}

const Pipeline* program_of_branch(const Command& branch) {
  if (branch.conditions.size() != 1 || branch.conditions[0].size() != 1 || branch.bodies.empty() ||
      branch.bodies.size() > 2 || !branch.redirections.empty())
    return nullptr;
  const Statement& condition = branch.conditions[0][0];
  if (condition.background || condition.pipelines.size() != 1) return nullptr;
  const Pipeline& program = condition.pipelines[0];
  const bool has_other = branch.bodies.size() == 2;
  const Statements nothing;
  const Statements& other = has_other ? branch.bodies[1] : nothing;
  // `!` makes the exit code 0 in the branch of the failure.
  const bool only_ends = program.negated ? only_fails(branch.bodies[0], false) && only_says(other)
                                         : only_says(branch.bodies[0]) && only_fails(other, true);
  return only_ends ? &program : nullptr;
}

}  // namespace

const Pipeline* sole_program(const Statement& statement) {
  const auto& all = statement.pipelines;
  if (all.empty() || (statement.background && all.size() > 1)) return nullptr;
  const auto& joints = statement.joints;
  if (all.size() == 1) {
    if (all[0].negated) return nullptr;
    const bool is_branch = is_plain(all[0]) && all[0].commands[0].kind == Command::Kind::branch;
    return is_branch ? program_of_branch(all[0].commands[0]) : &all[0];
  }
  const bool says = joints[0] == "&&" && only_says(all[1]);
  const bool fails = joints.back() == "||" && only_fails(all.back());
  const bool only_ends = all.size() == 2 ? says || fails : all.size() == 3 && says && fails;
  return only_ends ? all.data() : nullptr;
}

}  // namespace dts::convert
