// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/runs.hpp"

#include "core/shell/arithmetic.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

namespace dts::lint {
namespace {

using shell::Command;
using Kind = Command::Kind;

constexpr int k_most_shells = 3;
constexpr std::size_t k_most_runs = 50'000;
constexpr std::size_t k_most_words = 4096;                   // per command
constexpr std::size_t k_most_spent = std::size_t{32} << 20;  // bytes, in total

bool is_exporting(const Command& command) {
  if (command.words.empty() || command.words[0].pieces.size() != 1) return false;
  const std::string& name = command.words[0].pieces[0].text;
  return name == "export" || name == "declare" || name == "typeset";
}

bool is_declaring(const Command& command) {
  if (is_exporting(command)) return true;
  if (command.words.empty() || command.words[0].pieces.size() != 1) return false;
  const std::string& name = command.words[0].pieces[0].text;
  return name == "local" || name == "readonly";
}

// The index of the script that `words` pass to another shell: bash -c TEXT, eval TEXT; npos: none.
std::size_t script_argument(const std::vector<ExpandedWord>& words, std::size_t program_at) {
  constexpr auto k_none = std::string::npos;
  if (program_at >= words.size()) return k_none;
  const std::string name = base_name(words[program_at].value.text);
  if (name == "eval") return program_at + 1 < words.size() ? program_at + 1 : k_none;
  if (name != "bash" && name != "sh" && name != "zsh") return k_none;
  for (std::size_t i = program_at + 1; i + 1 < words.size(); ++i) {
    const std::string& word = words[i].value.text;
    if (!word.starts_with('-')) return k_none;
    if (word[1] != '-' && word.find('c') != std::string::npos) return i + 1;
  }
  return k_none;
}

// Walks through a script, or a script in one of its arguments. All places refer to the outermost
// one.
class Walker {
 public:
  Walker(const shell::Script& script, std::string_view text, Runs& runs)
      : script_(script), text_(text), runs_(runs) {}

  void walk() {
    for (const shell::Statement& one : script_.statements) {
      statement(one, {});
      ++runs_.statements;
    }
  }

  // Walks through a script in the words of `outer`.
  void walk_inner(const Run& outer) {
    outer_ = &outer;
    Surroundings around = outer.around;
    ++around.inner;
    for (const shell::Statement& one : script_.statements) statement(one, around);
  }

 private:
  [[nodiscard]] Span placed(Span span) const { return outer_ != nullptr ? outer_->span : span; }

  void statements(const shell::Statements& all, const Surroundings& around) {
    for (const shell::Statement& one : all) statement(one, around);
  }

  void statement(const shell::Statement& one, Surroundings around) {
    around.is_background = around.is_background || one.background;
    for (std::size_t i = 0; i < one.pipelines.size(); ++i) {
      Surroundings part = around;
      part.is_conditional = part.is_conditional || i > 0;
      part.is_condition =
          part.is_condition || one.pipelines[i].negated || i + 1 < one.pipelines.size();
      pipeline(one.pipelines[i], part);
    }
  }

  void pipeline(const shell::Pipeline& all, const Surroundings& around) {
    const std::size_t number = ++pipelines_;
    for (std::size_t i = 0; i < all.commands.size(); ++i) {
      Surroundings part = around;
      const bool is_piped = i + 1 < all.commands.size();
      (outer_ == nullptr ? part.is_piped : part.is_piped_inside) |= is_piped;
      pipeline_ = number;
      command(all.commands[i], part);
    }
  }

  void command(const Command& one, Surroundings around) {
    if (runs_.runs.size() >= k_most_runs || runs_.spent > k_most_spent) return;
    if (one.kind == Kind::simple) return simple(one, around);
    for (const shell::Word& word : one.words) {
      substitutions(word, around);
      if (one.kind == Kind::arithmetic)
        for (const shell::Piece& piece : word.pieces) calculate(piece.text);
    }
    Surroundings condition = around;
    condition.is_condition = true;
    for (const shell::Statements& all : one.conditions) statements(all, condition);
    around.is_in_function = around.is_in_function || one.kind == Kind::function;
    around.is_in_subshell = around.is_in_subshell || one.kind == Kind::subshell;
    around.is_in_loop = around.is_in_loop || one.kind == Kind::loop || one.kind == Kind::each;
    around.is_conditional = around.is_conditional || around.is_in_loop ||
                            one.kind == Kind::branch || one.kind == Kind::choice;
    around.reads_loop_input = around.reads_loop_input || reads_lines(one);
    if (one.kind == Kind::each && !one.name.empty()) forget(one.name);
    for (const shell::Statements& all : one.bodies) statements(all, around);
  }

  // True for `while read NAME; do ...`.
  static bool reads_lines(const Command& one) {
    if (one.kind != Kind::loop) return false;
    for (const shell::Statements& all : one.conditions)
      for (const shell::Statement& part : all) {
        const Command& first = part.pipelines[0].commands[0];
        if (!first.words.empty() && !first.words[0].pieces.empty() &&
            first.words[0].pieces[0].text == "read")
          return true;
      }
    return false;
  }

  void forget(const std::string& name) {
    runs_.variables.set(name, {std::string(1, k_unknown) + "{" + name + "}", true});
    runs_.changed.insert(name);
  }

  void assign(const shell::Assignment& one, const Command& command, const Surroundings& around) {
    const bool is_prefix = !command.words.empty() && !is_declaring(command);
    if (one.is_array) {
      std::vector<Value> elements;
      for (const shell::Word& word : one.elements) {
        substitutions(word, around);
        for (ExpandedWord& part : expand(word, runs_.variables, text_)) {
          runs_.spent += part.value.text.size();
          if (elements.size() < k_most_words) elements.push_back(std::move(part.value));
        }
      }
      if (one.appends)
        runs_.variables.append_array(one.name, std::move(elements));
      else
        runs_.variables.set_array(one.name, std::move(elements));
      return;
    }
    substitutions(one.value, around);
    Assigned assigned{one.name,
                      expanded_value(one.value, runs_.variables, text_),
                      placed(one.span),
                      placed(one.value.span),
                      is_literal(one.value),
                      is_prefix,
                      is_exporting(command),
                      around};
    runs_.spent += assigned.value.text.size();
    const Value* before = runs_.variables.find(one.name);
    Value now = assigned.value;
    if (one.appends && before != nullptr) now.text = before->text + now.text;
    if (now.text.size() > k_longest_value) now.text.resize(k_longest_value);
    // Under a condition, the variable may also keep its value, or have that of the environment.
    now.is_certain = now.is_certain && !around.is_conditional && !around.is_in_function;
    if (!is_prefix && !one.is_element && !around.is_in_substitution)
      runs_.variables.set(one.name, std::move(now));
    runs_.assigned.push_back(std::move(assigned));
  }

  static bool is_literal(const shell::Word& word) {
    return std::all_of(word.pieces.begin(), word.pieces.end(), [](const shell::Piece& piece) {
      return piece.kind == shell::Piece::Kind::literal;
    });
  }

  void simple(const Command& one, const Surroundings& around) {
    const std::size_t pipeline = pipeline_;
    for (const shell::Assignment& part : one.assignments) assign(part, one, around);
    Run run;
    for (const shell::Word& word : one.words) {
      substitutions(word, around);
      for (ExpandedWord& part : expand(word, runs_.variables, text_)) {
        part.span = placed(part.span);
        runs_.spent += part.value.text.size();
        if (run.words.size() < k_most_words) run.words.push_back(std::move(part));
      }
    }
    if (outer_ == nullptr)
      for (const shell::Redirection& part : one.redirections) {
        substitutions(part.target, around);
        run.redirections.push_back(&part);
      }
    if (run.words.empty()) return;
    run.span = placed(one.span);
    run.around = around;
    run.pipeline = pipeline;
    run.statement = runs_.statements;
    run.launch = launch_of(run.words);
    // What a launcher starts by way of a shell is started by this launcher.
    if (outer_ != nullptr && run.launch.launcher == Launcher::none) {
      run.launch.launcher = outer_->launch.launcher;
      run.launch.options = outer_->launch.options;
      run.launch.has_unknown_options = outer_->launch.has_unknown_options;
    }
    read_names(run);
    const std::size_t script_at = around.inner < k_most_shells
                                      ? script_argument(run.words, run.launch.program_at)
                                      : std::string::npos;
    run.runs_script = script_at != std::string::npos;
    runs_.runs.push_back(run);
    if (script_at != std::string::npos) inner(run, script_at);
  }

  // Handles `read NAME`, `unset NAME`, `let NAME=1` and `printf -v NAME`.
  void read_names(const Run& run) {
    const std::string& name = run.name();
    const bool is_list =
        name == "read" || name == "unset" || name == "mapfile" || name == "readarray";
    for (std::size_t i = 1; i < run.words.size(); ++i) {
      const std::string& word = run.words[i].value.text;
      if (is_list || (name == "printf" && run.words[i - 1].value.text == "-v")) forget(word);
      if (name == "let") calculate(word);
    }
  }

  void calculate(std::string_view expression) {
    for (const std::string& name : shell::names_set_by(expression)) forget(name);
  }

  void inner(const Run& outer, std::size_t script_at) {
    std::string text = outer.words[script_at].value.text;
    if (base_name(outer.words[outer.launch.program_at].value.text) == "eval")
      for (std::size_t i = script_at + 1; i < outer.words.size(); ++i)
        text += " " + outer.words[i].value.text;
    runs_.spent += text.size();
    const shell::Script script = shell::parse(text);
    Walker walker(script, text, runs_);
    walker.pipelines_ = pipelines_;
    walker.walk_inner(outer);
    pipelines_ = walker.pipelines_;
  }

  void substitutions(const shell::Word& word, Surroundings around) {
    around.is_in_substitution = true;
    for (const shell::Piece& piece : word.pieces) {
      if (piece.kind == shell::Piece::Kind::arithmetic) calculate(piece.text);
      statements(piece.commands, around);
      for (const shell::Word& part : piece.words) substitutions(part, around);
    }
  }

  const shell::Script& script_;
  std::string_view text_;
  Runs& runs_;
  const Run* outer_ = nullptr;
  std::size_t pipelines_ = 0;
  std::size_t pipeline_ = 0;
};

}  // namespace

const std::string& Run::name() const {
  static const std::string none;
  return words.empty() ? none : words.front().value.text;
}

Runs runs_of(const shell::Script& script, std::string_view text) {
  Runs runs;
  Walker(script, text, runs).walk();
  return runs;
}

}  // namespace dts::lint
