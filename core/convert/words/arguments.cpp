// SPDX-License-Identifier: Apache-2.0
// The arguments of a script, "$@" and $1, followed over `shift` and `set`.
#include "core/base/text/text.hpp"
#include "core/convert/words/flat.hpp"
#include "core/convert/words/positional.hpp"

#include <algorithm>
#include <cstdint>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;

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

}  // namespace

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
  has_arguments_of_set_up_ = has_arguments_of_set_up_ && (is_certain || change == Change::none);
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

// True if it has an argument that is not given, without a default for it: NAME=$1. The user may
// write a value into that line of the job file.
bool Inliner::lacks_argument(const shell::Word& word) const {
  const auto all = arrays_.find("@");
  if (all == arrays_.end()) return false;
  return std::any_of(word.pieces.begin(), word.pieces.end(), [&](const Piece& piece) {
    return is_positional(piece) && piece.operation.empty() &&
           parse_number(piece.text).value_or(0) > all->second.size();
  });
}

}  // namespace dts::convert
