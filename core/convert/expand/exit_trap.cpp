// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/text.hpp"
#include "core/convert/expand/calls.hpp"
#include "core/convert/expand/shapes.hpp"
#include "core/convert/words/extent.hpp"
#include "core/convert/words/names.hpp"
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

// trap COMMANDS EXIT
struct ExitTrap {
  Span span;            // of the statement
  Span commands;        // without quotes around them
  const Command* trap;  // itself
};

// That with the commands: the one behind `trap`, or behind its --.
std::size_t place_of_commands(const Command& trap) {
  return literal_of(trap.words[1]) == "--" ? 2 : 1;
}

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
      const auto commands = commands_in(command->words[place_of_commands(*command)], text);
      return commands ? std::optional(ExitTrap{one.span, *commands, command}) : std::nullopt;
    }
    const bool is_run =
        command->kind == Command::Kind::group ||
        (command->kind == Command::Kind::function && is_called(script, command->name));
    if (!is_run || command->bodies.empty()) continue;
    if (auto trap = exit_trap_in(command->bodies[0], script, text)) return trap;
  }
  return std::nullopt;
}

// What it does besides ending processes and the script.
std::vector<Span> work_of(const ExitTrap& trap, std::string_view text) {
  std::vector<Span> work;
  const std::size_t at = trap.commands.begin;
  const std::string_view commands = text.substr(at, trap.commands.end - at);
  for (const Statement& one : shell::parse(commands).statements)
    if (!only_ends(one)) work.push_back({at + one.span.begin, at + one.span.end});
  return work;
}

// What lines set that may run when the trap has been set, and the variables of functions alone.
class SetLater {
 public:
  explicit SetLater(const Span& trap) : trap_(trap) {}

  void list(const Statements& statements) {
    for (const Statement& one : statements) {
      const Command* command = whole_command(one);
      const bool is_function = command != nullptr && command->kind == Command::Kind::function;
      if (is_function)
        each_local(command->bodies[0], [this](const auto& local) { names_.insert(local.name); });
      if (command != nullptr && !command->bodies.empty() && is_within(trap_, one.span))
        list(command->bodies[0]);
      else if (is_function || one.span.begin >= trap_.end)
        add(one);
    }
  }

  [[nodiscard]] bool has(const std::string& name) const {
    return is_read_ || names_.count(name) > 0;
  }

 private:
  void add(const Statement& one) {
    const SetNames sets = set_names(one);
    names_.insert(sets.variables.begin(), sets.variables.end());
    names_.insert(sets.arrays.begin(), sets.arrays.end());
    each_command(one, [this](const Command& command) {
      const std::string verb = first_word(command);
      is_read_ = is_read_ || verb == "source" || verb == "." || verb == "eval";
    });
  }

  Span trap_;
  Names names_;
  bool is_read_ = false;  // a file or text that may set any variable
};

// A shell expands what is in double quotes when it sets the trap, the tear-down at the end.
bool means_same_at_end(const ExitTrap& trap,
                       const std::vector<Span>& work,
                       const shell::Script& script,
                       std::string_view text) {
  constexpr std::string_view k_passing[] = {
      "PWD", "OLDPWD", "RANDOM", "SECONDS", "LINENO", "REPLY", "FUNCNAME", "EPOCHSECONDS"};
  if (text[trap.commands.begin - 1] != '"') return true;
  SetLater later(trap.span);
  later.list(script.statements);
  const std::string_view commands =
      text.substr(trap.commands.begin, trap.commands.end - trap.commands.begin);
  const bool has_quotes = commands.find('\'') != std::string_view::npos;
  const auto& pieces = trap.trap->words[place_of_commands(*trap.trap)].pieces;
  return std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
    const bool is_of_work = std::any_of(
        work.begin(), work.end(), [&](const Span& one) { return is_within(piece.span, one); });
    if (piece.kind == Piece::Kind::literal || !is_of_work) return true;
    return piece.kind == Piece::Kind::parameter && piece.operation.empty() && !has_quotes &&
           shell::is_name_begin(piece.text[0]) && !is_one_of(k_passing, piece.text) &&
           !later.has(piece.text);
  });
}

// Lines up to the trap that may end the script: it would not act then, but a tear-down does.
class BeforeTrap {
 public:
  BeforeTrap(const Span& trap, bool is_errexit) : trap_(trap), is_errexit_(is_errexit) {}

  // False: the trap is not reached by them.
  bool list(const Statements& statements) {
    return std::any_of(statements.begin(), statements.end(), [this](const Statement& one) {
      return reaches(one);
    });
  }

  [[nodiscard]] bool may_end() const { return may_end_; }

 private:
  bool reaches(const Statement& one) {
    const Command* command = whole_command(one);
    if (one.span.begin == trap_.begin && one.span.end == trap_.end) return true;
    if (command != nullptr && command->kind == Command::Kind::function) {
      functions_[command->name] = command;
      return false;
    }
    const auto called =
        command == nullptr ? functions_.end() : functions_.find(first_word(*command));
    if (called != functions_.end() && is_within(trap_, called->second->span))
      return list(called->second->bodies[0]);
    if (command != nullptr && command->kind == Command::Kind::group && is_within(trap_, one.span))
      return list(command->bodies[0]);
    see(one);
    return false;
  }

  void see(const Statement& one) {
    each_command(one, [this](const Command& command) {
      const std::string verb = first_word(command);
      const auto called = functions_.find(verb);
      may_end_ = may_end_ || verb == "exit" ||
                 (called != functions_.end() && ends_script(called->second->bodies[0]));
      if (verb == "set") options(command);
    });
    each_expansion({one}, [this](const Piece& piece) {
      may_end_ = may_end_ || piece.operation.starts_with(":?") || piece.operation.starts_with('?');
    });
    may_end_ = may_end_ || (is_errexit_ && may_fail(one));
  }

  void options(const Command& set) {
    for (const shell::Word& one : set.words) {
      const std::string word = literal_of(one);
      const bool has_letter = word.size() > 1 && word.find('e') != std::string::npos;
      if (has_letter && word[0] == '-') is_errexit_ = true;
      if (has_letter && word[0] == '+') is_errexit_ = false;
      if (word == "errexit") is_errexit_ = literal_of(set.words[1]).starts_with('-');
    }
  }

  // Folders and names of its own are what a trap removes.
  static bool may_fail(const Statement& one) {
    constexpr std::string_view k_safe[] = {
        "",      "set",    "shopt", "export", "declare", "local",    "readonly", "echo",
        "true",  "printf", "trap",  "umask",  "ulimit",  "hostname", "basename", "date",
        "mkdir", "mktemp", ":",     "pwd",    "dirname", "[",        "test"};
    constexpr std::string_view k_done[] = {"true", ":", "echo"};
    const Command* simple = simple_command(one);
    const std::string verb = simple == nullptr ? "" : first_word(*simple);
    if (verb == "[" || verb == "test") return true;
    if (simple != nullptr && simple->words.empty()) return false;  // D=$(cd .. && pwd)
    const bool goes_on = !one.joints.empty() && one.joints.back() == "||" &&
                         is_one_of(k_done, first_word(one.pipelines.back().commands.back()));
    bool fails = false;
    each_command(one, [&](const Command& command) {
      fails = fails || !is_one_of(k_safe, first_word(command));
    });
    return fails && !goes_on;
  }

  Span trap_;
  bool is_errexit_;
  bool may_end_ = false;
  std::map<std::string, const Command*> functions_;
};

bool may_end_before(const Span& trap, const shell::Script& script, std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  BeforeTrap lines(trap, first.starts_with("#!") && first.find(" -e") != std::string_view::npos);
  lines.list(script.statements);
  return lines.may_end();
}

std::optional<ExitTrap> exit_trap_of(std::string_view text, const shell::Script& script) {
  std::size_t traps = 0;
  bool is_replaced = false;  // exec PROGRAM: the shell is gone before its trap
  each_command(script.statements, [&](const Command& command) {
    traps += is_on_exit(command) ? 1 : 0;
    is_replaced = is_replaced || (first_word(command) == "exec" && command.words.size() > 1);
  });
  if (traps != 1 || is_replaced) return std::nullopt;
  auto trap = exit_trap_in(script.statements, script.statements, text);
  const auto work = trap ? work_of(*trap, text) : std::vector<Span>{};
  const bool is_same = work.empty() || (means_same_at_end(*trap, work, script, text) &&
                                        !may_end_before(trap->span, script, text));
  return is_same ? trap : std::nullopt;
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
  const std::vector<Span> work = work_of(*trap, text);
  for (const Span& one : work) {
    made.script.insert("\n");
    made.script.keep(one);
  }
  made.script.insert("\n");
  made.rows.push_back(
      {rest_of(trap->span, work), Became::unnecessary, "", "its commands run behind the program"});
  return made;
}

}  // namespace dts::convert
