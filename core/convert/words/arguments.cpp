// SPDX-License-Identifier: Apache-2.0
// The arguments of a script, "$@" and $1, followed over `shift` and `set`.
#include "core/base/text/text.hpp"
#include "core/convert/words/flat.hpp"

#include <algorithm>
#include <cstdint>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;

bool is_argument(const Piece& piece) {
  if (piece.kind != Piece::Kind::parameter || piece.text.empty()) return false;
  if (piece.text == "@" || piece.text == "*" || piece.text == "#") return true;
  return piece.text.find_first_not_of("0123456789") == std::string::npos && piece.text != "0";
}

// `set -o pipefail` leaves them as they are, `set -- x` and `set x` do not.
bool sets_arguments(const Command& command) {
  const auto is_argument = [](const shell::Word& word) {
    const std::string text = literal_of(word);
    return text.empty() || text == "--" || (text[0] != '-' && text[0] != '+');
  };
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    if (is_argument(command.words[i])) return true;
    const std::string text = literal_of(command.words[i]);
    if (text.ends_with('o')) ++i;  // its name
  }
  return false;
}

enum class Change { none, shifted, set };

Change change_by(const Command& command) {
  if (command.kind != Command::Kind::simple || command.words.empty()) return Change::none;
  const std::string verb = first_word(command);
  if (verb == "shift") return Change::shifted;
  if (verb == "set") return sets_arguments(command) ? Change::set : Change::none;
  const bool is_evaluated =
      verb == "eval" && command.words.size() > 1 && literal_of(command.words[1]) == "set";
  return is_evaluated ? Change::set : Change::none;
}

// A function has arguments of its own, and so has a subshell once it changes them.
Change change_in(const shell::Statements& statements) {
  Change change = Change::none;
  for (const shell::Statement& statement : statements)
    for (const shell::Pipeline& pipeline : statement.pipelines)
      for (const Command& command : pipeline.commands) {
        if (command.kind == Command::Kind::function || command.kind == Command::Kind::subshell ||
            pipeline.commands.size() > 1 || statement.background)
          continue;
        change = std::max(change, change_by(command));
        for (const auto* lists : {&command.conditions, &command.bodies})
          for (const shell::Statements& all : *lists) change = std::max(change, change_in(all));
      }
  return change;
}

// The command that is run first whatever comes of it: `shift || true`.
const Command* first_command(const shell::Statement& statement) {
  if (statement.pipelines.empty() || statement.pipelines[0].commands.empty()) return nullptr;
  const Command& first = statement.pipelines[0].commands[0];
  shell::Statement others = statement;
  others.pipelines.erase(others.pipelines.begin());
  return change_by(first) == Change::none || change_in({others}) != Change::none ? nullptr : &first;
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

  [[nodiscard]] const std::string& found() const { return found_; }

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
    each_expansion({alone}, [&names](const Piece& piece) { names = names || is_argument(piece); });
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
    const std::uint64_t number = is_argument(piece) ? parse_number(piece.text).value_or(0) : 0;
    const bool has_default =
        !piece.operation.empty() &&
        std::string_view(":-+=?").find(piece.operation[0]) != std::string_view::npos;
    if (number > count_ && !has_default && found_.empty()) found_ = "$" + piece.text;
  }

  std::size_t count_;
  std::string found_;
};

}  // namespace

std::string missing_argument(const shell::Statement& statement,
                             std::size_t count,
                             bool is_program) {
  ArgumentSeeker seeker(count);
  seeker.list({statement});
  if (is_program && seeker.found().empty()) seeker.choice(statement);
  return seeker.found();
}

namespace {

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

}  // namespace

bool uses_arguments(const shell::Statement& statement) {
  return expands(statement, is_argument);
}

bool uses_all_arguments(const shell::Statement& statement) {
  return expands(statement, [](const Piece& piece) {
    return is_argument(piece) && (piece.text == "@" || piece.text == "*");
  });
}

void Inliner::set_arguments(const std::vector<std::string>& arguments) {
  std::vector<FlatWord> all;
  for (const std::string& one : arguments) all.push_back({{Segment::Kind::literal, one, true}});
  set_arguments(std::move(all));
}

void Inliner::set_arguments(std::vector<FlatWord> arguments) {
  forget_arguments();
  values_["#"] = {{Segment::Kind::literal, std::to_string(arguments.size()), true}};
  for (std::size_t i = 0; i < arguments.size(); ++i) values_[std::to_string(i + 1)] = arguments[i];
  arrays_["@"] = std::move(arguments);
}

void Inliner::forget_arguments() {
  arrays_.erase("@");
  values_.erase("#");
  std::erase_if(values_, [](const auto& one) {
    return one.first.find_first_not_of("0123456789") == std::string::npos;
  });
}

std::optional<std::vector<std::string>> Inliner::arguments() const {
  const auto all = arrays_.find("@");
  if (all == arrays_.end()) return std::nullopt;
  std::vector<std::string> texts;
  for (const FlatWord& one : all->second) {
    const auto text = plain(one);
    if (!text) return std::nullopt;
    texts.push_back(*text);
  }
  return texts;
}

void Inliner::follow_arguments(const shell::Statement& statement, bool is_certain) {
  const Change change = change_in({statement});
  const auto all = arrays_.find("@");
  if (change == Change::none || all == arrays_.end()) return;
  if (change == Change::shifted && all->second.empty()) return;  // nothing is left to shift
  const Command* command = is_certain ? first_command(statement) : nullptr;
  if (command != nullptr && change == Change::shifted) return shift(*command);
  const bool is_plain_set = command != nullptr && first_word(*command) == "set" &&
                            command->words.size() > 1 && literal_of(command->words[1]) == "--";
  if (is_plain_set) {
    std::vector<FlatWord> values = words({command->words.begin() + 2, command->words.end()});
    if (std::all_of(
            values.begin(), values.end(), [&](const FlatWord& one) { return is_constant(one); }))
      return set_arguments(std::move(values));
  }
  forget_arguments();
}

// bash(1): more than there are shift nothing.
void Inliner::shift(const Command& command) {
  std::vector<FlatWord> all = arrays_["@"];
  std::optional<std::uint64_t> count = 1;
  if (command.words.size() > 1) {
    const std::vector<FlatWord> number = words(command.words[1]);
    const auto text = number.size() == 1 ? plain(number[0]) : std::nullopt;
    count = text ? parse_number(*text) : std::nullopt;
  }
  if (!count) return forget_arguments();
  if (*count > all.size()) return;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(*count));
  set_arguments(std::move(all));
}

// Of "$@", ${NAME[@]} and the like; null: another piece, or not known.
const std::vector<FlatWord>* Inliner::elements_of(const Piece& piece) const {
  if (piece.kind != Piece::Kind::parameter) return nullptr;
  const bool is_all =
      piece.operation.empty() && (piece.text == "@" || (piece.text == "*" && !piece.quoted));
  if (!is_all && piece.operation != "[@]") return nullptr;
  const auto found = arrays_.find(is_all ? "@" : piece.text);
  return found == arrays_.end() ? nullptr : &found->second;
}

// bash(1), Special Parameters: "$@" and "${NAME[@]}" without elements are no word, unless a pair of
// quotes without anything in it stands beside them.
bool Inliner::makes_no_word(const shell::Word& word) const {
  constexpr std::size_t k_two_quotes = 2;  // the end of one pair and the begin of the next
  bool has_quoted_all = false;
  for (const Piece& piece : word.pieces) {
    if (piece.kind == Piece::Kind::literal) {
      if (!piece.text.empty() || piece.span.end - piece.span.begin > k_two_quotes) return false;
      continue;
    }
    const std::vector<FlatWord>* elements = elements_of(piece);
    if (elements == nullptr || !elements->empty()) return false;
    has_quoted_all = has_quoted_all || piece.quoted;
  }
  return has_quoted_all;
}

}  // namespace dts::convert
