// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/wrapper.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/expand/shapes.hpp"
#include "core/convert/words/names.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;
using shell::Statement;

constexpr std::string_view k_beside[] = {
    "echo", "printf", "date", "set", "local", "return", "exit", "true", ":"};

// "$@", $@ or $* alone.
const Piece* arguments_in(const shell::Word& word) {
  const Piece* one = only_piece(word);
  const bool is_all = one != nullptr && one->kind == Piece::Kind::parameter &&
                      one->operation.empty() &&
                      (one->text == "@" || (one->text == "*" && !one->quoted));
  return is_all ? one : nullptr;
}

bool has_quoted_blank(const shell::Word& word) {
  return std::any_of(word.pieces.begin(), word.pieces.end(), [](const Piece& one) {
    return one.quoted && (one.kind != Piece::Kind::literal ||
                          one.text.find_first_of(" \t\n*?[") != std::string::npos);
  });
}

// Prints, or only groups others.
bool is_beside(const Command& one) {
  if (one.kind == Command::Kind::group) return true;
  return one.kind == Command::Kind::simple && one.redirections.empty() &&
         is_one_of(k_beside, first_word(one));
}

// "$@", time "$@", srun -n 4 "$@"; null: another command.
const Piece* arguments_run_by(const Command& one) {
  if (one.kind != Command::Kind::simple || !one.redirections.empty() || !one.assignments.empty() ||
      one.words.empty())
    return nullptr;
  const std::string first = first_word(one);
  const bool is_launched = one.words.size() > 1 && (first == "srun" || first == "mpirun");
  const std::size_t at = is_launched ? one.words.size() - 1 : first == "time" ? 1 : 0;
  const bool is_literal = std::none_of(one.words.begin(),
                                       one.words.begin() + static_cast<std::ptrdiff_t>(at),
                                       [](const auto& word) { return literal_of(word).empty(); });
  return is_literal && one.words.size() == at + 1 ? arguments_in(one.words[at]) : nullptr;
}

shell::Span launcher_of(const Command& one) {
  return first_word(one) == "time" || one.words.size() < 2
             ? shell::Span{}
             : shell::Span{one.words[0].span.begin, one.words[one.words.size() - 2].span.end};
}

// Without its double quotes the shell splits the word as $@ in the function does: "$X", "a$X".
bool is_same_without_quotes(std::string_view source, const shell::Word& word) {
  if (source.find_first_of("'\\`") != std::string_view::npos) return false;
  return std::all_of(word.pieces.begin(), word.pieces.end(), [](const Piece& one) {
    if (one.kind == Piece::Kind::literal)
      return !one.quoted || one.text.find_first_of(" \t\n*?[;&|<>()~{}#") == std::string::npos;
    return one.kind == Piece::Kind::parameter &&
           one.operation.find_first_of(" \t\n\"") == std::string::npos;
  });
}

struct TextEdit {
  Span span;
  std::string text{};
  bool is_quote = false;  // that is left out
};

class Unwrapper {
 public:
  explicit Unwrapper(std::string_view text) : text_(text) {}

  Expanded run(const shell::Script& script) {
    for (const Statement& one : script.statements) see(one);
    if (!functions_.empty()) list(script.statements);
    Expanded made{Rewrite(text_)};
    std::size_t at = 0;
    for (const TextEdit& edit : edits_) {
      made.script.keep({at, edit.span.begin});
      made.script.insert(edit.text);
      if (edit.is_quote) made.script.drop(edit.span.begin);
      at = edit.span.end;
    }
    made.script.keep({at, text_.size()});
    made.rows = std::move(rows_);
    return made;
  }

 private:
  struct Function {
    bool takes_words = false;  // its arguments as they are, "$@"
    Span launcher;             // what its definition has before "$@": srun -n 4; empty: nothing
  };

  void see(const Statement& statement) {
    if (statement.pipelines.size() != 1 || statement.pipelines[0].commands.size() != 1) return;
    const Command& function = statement.pipelines[0].commands[0];
    if (function.kind != Command::Kind::function) return;
    functions_.erase(function.name);
    std::vector<Function> runs;
    bool is_simple = true;
    for (const shell::Statements& body : function.bodies)
      each_command(body, [&](const Command& one) {
        if (is_beside(one)) return;
        const Piece* arguments = arguments_run_by(one);
        is_simple = is_simple && arguments != nullptr;
        if (is_simple) runs.push_back({arguments->quoted, launcher_of(one)});
      });
    const bool waits = std::none_of(function.bodies.begin(), function.bodies.end(), has_background);
    if (is_simple && waits && runs.size() == 1) functions_[function.name] = runs[0];
  }

  // In the order of the text, and not in substitutions, whose output is used.
  void list(const shell::Statements& statements) {
    for (const Statement& statement : statements)
      for (const shell::Pipeline& pipeline : statement.pipelines)
        for (const Command& command : pipeline.commands) {
          if (command.kind == Command::Kind::simple) call(command);
          for (std::size_t i = 0; i < command.conditions.size() || i < command.bodies.size(); ++i) {
            if (i < command.conditions.size()) list(command.conditions[i]);
            if (i < command.bodies.size()) list(command.bodies[i]);
          }
        }
  }

  void call(const Command& command) {
    if (command.words.size() < 2) return;
    const auto found = functions_.find(first_word(command));
    if (found == functions_.end()) return;
    std::vector<TextEdit> quotes;
    for (const shell::Word& word : command.words) {
      if (found->second.takes_words || !has_quoted_blank(word)) continue;
      const Span& span = word.span;
      const std::string_view source = text_.substr(span.begin, span.end - span.begin);
      if (!is_same_without_quotes(source, word)) return;
      for (std::size_t i = 0; i < source.size(); ++i)
        if (source[i] == '"') quotes.push_back({{span.begin + i, span.begin + i + 1}, "", true});
    }
    const Span& launcher = found->second.launcher;
    edits_.push_back({command.words[0].span,
                      std::string(text_.substr(launcher.begin, launcher.end - launcher.begin))});
    edits_.insert(edits_.end(), quotes.begin(), quotes.end());
    rows_.push_back({{command.words[0].span},
                     Became::unnecessary,
                     "",
                     launcher.begin < launcher.end
                         ? "a function that starts the command through a launcher"
                         : "a function that prints the command and runs it"});
  }

  std::string_view text_;
  std::map<std::string, Function> functions_;
  std::vector<TextEdit> edits_;
  std::vector<Row> rows_;
};

}  // namespace

Expanded without_wrappers(std::string_view text, const shell::Script& script) {
  return Unwrapper(text).run(script);
}

}  // namespace dts::convert
