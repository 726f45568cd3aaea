// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/used_arguments.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/names.hpp"
#include "core/convert/words/positional.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;

// True if an expansion outside functions is `wanted`.
template <class Wanted>
bool expands(const shell::Statement& statement, const Wanted& wanted) {
  std::vector<shell::Span> functions;
  each_command(statement, [&](const Command& command) {
    if (command.kind == Command::Kind::function) functions.push_back(command.span);
  });
  bool uses = false;
  each_expansion({statement}, [&](const Piece& piece) {
    const bool is_of_function =
        std::any_of(functions.begin(), functions.end(), [&](const shell::Span& one) {
          return one.begin <= piece.span.begin && piece.span.begin < one.end;
        });
    uses = uses || (wanted(piece) && !is_of_function);
  });
  return uses;
}

// Finds the arguments of a script that a statement cannot do without.
class ArgumentSeeker {
 public:
  explicit ArgumentSeeker(std::size_t count) : count_(count) {}

  void list(const shell::Statements& statements) {
    for (const shell::Statement& statement : statements)
      for (const shell::Pipeline& pipeline : statement.pipelines) {
        const bool asks = std::any_of(pipeline.commands.begin(),
                                      pipeline.commands.end(),
                                      [](const Command& one) { return asks_for_argument(one); });
        if (asks) break;  // [ -n "$1" ] && ...
        for (const Command& command : pipeline.commands) see(command);
      }
  }

  // if [ "$1" = a ]; then ... elif ... fi; case $1 in a) ... esac
  void choice(const shell::Statement& statement) {
    if (statement.pipelines.size() != 1 || statement.pipelines[0].commands.size() != 1) return;
    const Command& one = statement.pipelines[0].commands[0];
    const bool has_other =
        one.kind == Command::Kind::choice
            ? std::any_of(one.choices.begin(),
                          one.choices.end(),
                          [](const shell::Choice& all) {
                            return std::any_of(
                                all.patterns.begin(), all.patterns.end(), [](const auto& word) {
                                  return literal_of(word) == "*";
                                });
                          })
            : one.kind != Command::Kind::branch || one.bodies.size() > one.conditions.size();
    if (has_other) return;
    shell::Statement asking;
    Command words = one;
    words.bodies.clear();
    asking.pipelines.push_back({one.span, false, {words}});
    each_expansion({asking}, [this](const Piece& piece) { expansion(piece); });
  }

  [[nodiscard]] const std::vector<std::string>& found() const { return found_; }

 private:
  static bool is_test(const Command& one) {
    const std::string verb = first_word(one);
    return one.kind == Command::Kind::test || one.kind == Command::Kind::arithmetic ||
           verb == "[" || verb == "test";
  }

  static bool names_argument(const Command& one) {
    shell::Statement alone;
    alone.pipelines.push_back({one.span, false, {one}});
    bool names = false;
    each_expansion({alone},
                   [&names](const Piece& piece) { names = names || is_positional(piece); });
    return names;
  }

  static bool asks_for_argument(const Command& one) { return is_test(one) && names_argument(one); }

  void see(const Command& command) {
    using Kind = Command::Kind;
    const bool asks = std::any_of(
        command.conditions.begin(), command.conditions.end(), [](const shell::Statements& all) {
          return std::any_of(all.begin(), all.end(), [](const shell::Statement& one) {
            return uses_arguments(one);
          });
        });
    const bool is_list = !command.bodies.empty();
    if (command.kind == Kind::function || command.kind == Kind::loop || asks ||
        command.kind == Kind::choice)
      return;
    for (const shell::Statements& all : command.bodies) list(all);
    if (is_list || is_test(command)) return;
    shell::Statement alone;
    alone.pipelines.push_back({command.span, false, {command}});
    each_expansion({alone}, [this](const Piece& piece) { expansion(piece); });
  }

  void expansion(const Piece& piece) {
    const std::uint64_t number = is_positional(piece) ? parse_number(piece.text).value_or(0) : 0;
    const std::string_view operation = piece.operation;
    const char sign = operation.size() > 1 && operation[0] == ':' ? operation[1]
                      : operation.empty()                         ? ' '
                                                                  : operation[0];
    const bool has_default = std::string_view("-+=").find(sign) != std::string_view::npos;
    const std::string name = "$" + piece.text;
    if (number > count_ && !has_default && std::count(found_.begin(), found_.end(), name) == 0)
      found_.push_back(name);
  }

  std::size_t count_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> missing_arguments(const shell::Statement& statement,
                                           std::size_t count,
                                           bool is_program) {
  ArgumentSeeker seeker(count);
  seeker.list({statement});
  if (is_program && seeker.found().empty()) seeker.choice(statement);
  return seeker.found();
}

bool uses_arguments(const shell::Statement& statement) {
  return expands(statement, is_positional);
}

bool reads_options(const shell::Statement& statement) {
  if (statement.pipelines.empty() || statement.pipelines[0].commands.empty()) return false;
  const Command& first = statement.pipelines[0].commands[0];
  if (first.kind != Command::Kind::loop && first.kind != Command::Kind::each) return false;
  bool reads = expands(statement, [](const Piece& piece) {
    return is_positional(piece) &&
           std::string_view("#@*").find(piece.text) != std::string_view::npos;
  });
  each_command(statement,
               [&](const Command& one) { reads = reads || first_word(one) == "getopts"; });
  return reads;
}

bool uses_all_arguments(const shell::Statement& statement) {
  return expands(statement, [](const Piece& piece) {
    return is_positional(piece) && (piece.text == "@" || piece.text == "*");
  });
}

}  // namespace dts::convert
