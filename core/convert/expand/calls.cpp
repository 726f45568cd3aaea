// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/calls.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/expand/shapes.hpp"
#include "core/convert/words/extent.hpp"
#include "core/convert/words/names.hpp"
#include "core/convert/words/positional.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;
using shell::Statement;
using shell::Statements;

// Words of a body that mean something else outside of a function.
bool needs_function(const Statements& body, const std::string& name) {
  constexpr std::string_view k_needing[] = {
      "return", "shift", "set", "getopts", "trap", "eval", "declare", "typeset"};
  bool needs = false;
  each_command(body, [&](const Command& command) {
    const std::string verb = first_word(command);
    needs = needs || verb == name || is_one_of(k_needing, verb) ||
            command.kind == Command::Kind::function ||
            (verb == "local" && command.words.size() > 1);
  });
  return needs;
}

class CallWriter {
 public:
  CallWriter(std::string_view text,
             const shell::Script& script,
             const std::vector<Span>& programs,
             const Names& outside)
      : text_(text), script_(script), outside_(outside), made_{Rewrite(text)} {
    for (const Statement& one : script.statements) {
      const Command* function = whole_command(one);
      if (function == nullptr || function->kind != Command::Kind::function) continue;
      if (has_within(programs, function->span) || calls_one(*function))
        functions_[function->name] = functions_.count(function->name) > 0 ? nullptr : function;
    }
  }

  Expanded run() {
    list(script_.statements, {0, text_.size()});
    return std::move(made_);
  }

 private:
  // One of those that start programs, and that are defined before it.
  [[nodiscard]] bool calls_one(const Command& function) const {
    bool calls = false;
    each_command(function.bodies[0], [&](const Command& command) {
      calls = calls || functions_.count(first_word(command)) > 0;
    });
    return calls;
  }

  void list(const Statements& statements, const Span& range) {
    std::size_t at = range.begin;
    for (const Statement& one : statements) {
      const Span span = with_sign(text_, one);
      made_.script.keep({at, span.begin});
      if (!write(one)) made_.script.keep(span);
      at = std::max(at, span.end);
    }
    made_.script.keep({at, range.end});
  }

  // False: it stays as it is.
  bool write(const Statement& one) {
    const Command* command = whole_command(one);
    if (command == nullptr || command->kind == Command::Kind::function) return false;
    if (command->kind == Command::Kind::simple) return call(*command);
    if (command->bodies.empty()) return false;
    std::size_t at = command->span.begin;
    for (const Statements& body : command->bodies) {
      if (body.empty()) continue;
      const Span extent = extent_of(text_, script_, body);
      made_.script.keep({at, extent.begin});
      list(body, extent);
      at = extent.end;
    }
    made_.script.keep({at, command->span.end});
    return true;
  }

  bool call(const Command& call) {
    if (call.words.empty() || !call.assignments.empty()) return false;
    const auto found = functions_.find(first_word(call));
    if (found == functions_.end() || found->second == nullptr) return false;
    const Statements* body = body_of(*found->second);
    if (body == nullptr || found->second->span.end > call.span.begin ||
        changes_other(*body, found->first, call))
      return false;
    const Span extent = extent_of(text_, script_, *body);
    const auto edits = edits_for(*body, extent, call, text_);
    if (!edits || made_.script.text().size() + extent.end - extent.begin > k_longest_script)
      return false;
    std::size_t at = extent.begin;
    for (const Edit& edit : *edits) {
      made_.script.keep({at, edit.span.begin});
      made_.script.insert(edit.text);
      at = edit.span.end;
    }
    made_.script.keep({at, extent.end});
    made_.rows.push_back({{call.span}, Became::program, "", "the function's lines, written out"});
    return true;
  }

  // null: it cannot be written out.
  [[nodiscard]] const Statements* body_of(const Command& function) const {
    if (function.bodies.size() != 1 || function.bodies[0].size() != 1) return nullptr;
    const Statement& whole = function.bodies[0][0];
    const Command* group = whole_command(whole);
    if (group == nullptr || group->kind != Command::Kind::group || group->bodies.size() != 1 ||
        group->bodies[0].empty())
      return nullptr;
    const Statements& body = group->bodies[0];
    const bool has_documents = std::any_of(body.begin(), body.end(), [&](const Statement& one) {
      const Span documents = documents_of(text_, script_, one);
      return documents.begin < documents.end;
    });
    return has_documents || needs_function(body, function.name) ? nullptr : &body;
  }

  // A variable that is local to the body is another one outside of it.
  [[nodiscard]] bool changes_other(const Statements& body,
                                   const std::string& name,
                                   const Command& call) const {
    Names outside = outside_;
    for (const auto& [other, function] : functions_)
      if (function != nullptr && other != name) outside.merge(used_but_not_local(*function));
    bool changes = false;
    each_local(body, [&](const shell::Assignment& one) {
      changes = changes || (outside.count(one.name) > 0 && !keeps_value(one, call));
    });
    return changes;
  }

  [[nodiscard]] Names used_but_not_local(const Command& function) const {
    const Span& span = function.span;
    Names names = used_names(text_.substr(span.begin, span.end - span.begin));
    each_local(function.bodies[0],
               [&names](const shell::Assignment& one) { names.erase(one.name); });
    return names;
  }

  // local lr=$1 in a call with $lr.
  static bool keeps_value(const shell::Assignment& one, const Command& call) {
    const Piece* value = only_piece(one.value);
    if (value == nullptr || !is_positional(*value) || !value->operation.empty()) return false;
    const auto number = parse_number(value->text);
    if (!number || *number >= call.words.size()) return false;
    const Piece* argument = only_piece(call.words[*number]);
    return argument != nullptr && argument->kind == Piece::Kind::parameter &&
           argument->text == one.name && argument->operation.empty();
  }

  std::string_view text_;
  const shell::Script& script_;
  const Names& outside_;
  std::map<std::string, const Command*> functions_;  // null: there are several of that name
  Expanded made_;
};

}  // namespace

Names names_outside_functions(std::string_view text, const shell::Script& script) {
  Names names;
  for (const Statement& one : script.statements) {
    const Command* command = whole_command(one);
    if (command == nullptr || command->kind != Command::Kind::function)
      names.merge(used_names(text.substr(one.span.begin, one.span.end - one.span.begin)));
  }
  return names;
}

Expanded with_calls_written_out(std::string_view text,
                                const shell::Script& script,
                                const std::vector<Span>& programs,
                                const Names& outside) {
  return CallWriter(text, script, programs, outside).run();
}

namespace {

// trap COMMANDS EXIT
struct ExitTrap {
  Span span;      // of the statement
  Span commands;  // without quotes around them
};

bool is_on_exit(const Command& command) {
  return first_word(command) == "trap" && command.words.size() > 2 &&
         std::any_of(command.words.begin() + 2, command.words.end(), [](const shell::Word& word) {
           return literal_of(word) == "EXIT" || literal_of(word) == "0";
         });
}

// Commands in single quotes, or in double quotes without a backslash; nullopt: none that the text
// has as they are run.
std::optional<Span> commands_in(const shell::Word& word, std::string_view text) {
  const std::string_view source = text.substr(word.span.begin, word.span.end - word.span.begin);
  const char quote = source.empty() ? ' ' : source[0];
  if (quote != '\'' && quote != '"')
    return std::all_of(source.begin(), source.end(), shell::is_name_char) ? std::optional(word.span)
                                                                          : std::nullopt;
  const bool is_plain = source.size() > 2 && source.find(quote, 1) == source.size() - 1 &&
                        (quote == '\'' || source.find('\\') == std::string_view::npos);
  return is_plain ? std::optional(Span{word.span.begin + 1, word.span.end - 1}) : std::nullopt;
}

// Processes end with the job, and its end follows from its programs.
bool only_ends(const Statement& statement) {
  constexpr std::string_view k_ending[] = {
      "kill", "pkill", "killall", "wait", "exit", "trap", "true", ":"};
  bool ends = true;
  each_command(statement, [&](const Command& one) {
    ends = ends && one.kind == Command::Kind::simple && is_one_of(k_ending, first_word(one));
  });
  return ends;
}

// By a line of its own.
bool is_called(const Statements& statements, const std::string& function) {
  return std::any_of(statements.begin(), statements.end(), [&](const Statement& one) {
    const Command* command = whole_command(one);
    return command != nullptr && first_word(*command) == function;
  });
}

// Among `statements`, also within functions that lines of the script call.
std::optional<ExitTrap> exit_trap_in(const Statements& statements,
                                     const Statements& script,
                                     std::string_view text) {
  for (const Statement& one : statements) {
    const Command* command = whole_command(one);
    if (command == nullptr) continue;
    if (is_on_exit(*command)) {
      const auto commands = commands_in(command->words[1], text);
      return commands ? std::optional(ExitTrap{one.span, *commands}) : std::nullopt;
    }
    const bool is_run =
        command->kind == Command::Kind::group ||
        (command->kind == Command::Kind::function && is_called(script, command->name));
    if (!is_run || command->bodies.empty()) continue;
    if (auto trap = exit_trap_in(command->bodies[0], script, text)) return trap;
  }
  return std::nullopt;
}

std::optional<ExitTrap> exit_trap_of(std::string_view text, const shell::Script& script) {
  std::size_t traps = 0;
  bool is_replaced = false;  // exec PROGRAM: the shell is gone before its trap
  each_command(script.statements, [&](const Command& command) {
    traps += is_on_exit(command) ? 1 : 0;
    is_replaced = is_replaced || (first_word(command) == "exec" && command.words.size() > 1);
  });
  if (traps != 1 || is_replaced) return std::nullopt;
  return exit_trap_in(script.statements, script.statements, text);
}

}  // namespace

Expanded with_exit_trap_behind(std::string_view text, const shell::Script& script) {
  Expanded made{Rewrite(text)};
  const auto trap = script.problems.empty() ? exit_trap_of(text, script) : std::nullopt;
  if (!trap) {
    made.script.keep({0, text.size()});
    return made;
  }
  made.script.keep({0, trap->span.begin});
  made.script.insert(":");
  made.script.keep({trap->span.end, text.size()});
  const std::string_view commands =
      text.substr(trap->commands.begin, trap->commands.end - trap->commands.begin);
  std::vector<Span> kept;
  for (const Statement& one : shell::parse(commands).statements) {
    if (only_ends(one)) continue;
    kept.push_back({trap->commands.begin + one.span.begin, trap->commands.begin + one.span.end});
    made.script.insert("\n");
    made.script.keep(kept.back());
  }
  made.script.insert("\n");
  made.rows.push_back(
      {rest_of(trap->span, kept), Became::unnecessary, "", "its commands run behind the program"});
  return made;
}

}  // namespace dts::convert
