// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/condition.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/expand/test_command.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using Outcome = std::optional<bool>;
using shell::Command;
using shell::Word;

constexpr std::string_view k_comparisons[] = {"==", "!=", "<=", ">=", "<", ">"};

// (( A < B )), (( A ))
Outcome of_arithmetic(std::string_view text, const Known& known) {
  if (text.find_first_of("&|?=!<>") == std::string_view::npos) {
    const auto value = known.number(trim(text));
    return value ? Outcome(*value != 0) : std::nullopt;
  }
  for (const std::string_view sign : k_comparisons) {
    const std::size_t at = text.find(sign);
    if (at == std::string_view::npos) continue;
    const auto left = known.number(trim(text.substr(0, at)));
    const auto right = known.number(trim(text.substr(at + sign.size())));
    if (!left || !right) return std::nullopt;
    if (sign == "==") return *left == *right;
    if (sign == "!=") return *left != *right;
    if (sign == "<=") return *left <= *right;
    if (sign == ">=") return *left >= *right;
    return sign == "<" ? *left < *right : *left > *right;
  }
  return std::nullopt;
}

std::string raw_text(const Word& word) {
  std::string text;
  for (const shell::Piece& piece : word.pieces) {
    if (piece.kind == shell::Piece::Kind::parameter && piece.operation.empty())
      text += "$" + piece.text;
    else if (piece.kind == shell::Piece::Kind::literal)
      text += piece.text;
    else
      return "?";
  }
  return text;
}

Outcome of_simple(const Command& command, const Known& known) {
  if (command.words.empty() || !command.assignments.empty()) return std::nullopt;
  const std::string verb = first_word(command);
  if ((verb == "true" || verb == ":") && command.words.size() == 1) return true;
  if (verb == "false") return false;
  if (verb == "[" || verb == "test") return outcome_of_test(command, known);
  return std::nullopt;
}

// ${NAME:=x} in a test changes NAME.
bool has_side_effect(const Command& command) {
  return std::any_of(command.words.begin(), command.words.end(), [](const shell::Word& word) {
    return std::any_of(word.pieces.begin(), word.pieces.end(), sets_default);
  });
}

Outcome of_command(const Command& command, const Known& known) {
  if (!command.redirections.empty() || has_side_effect(command)) return std::nullopt;
  switch (command.kind) {
    case Command::Kind::simple:
      return of_simple(command, known);
    case Command::Kind::test:
      return outcome_of_long_test(command.words, known);
    case Command::Kind::arithmetic:
      return command.words.size() == 1 ? of_arithmetic(raw_text(command.words[0]), known)
                                       : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<bool> outcome_of(const shell::Pipeline& pipeline, const Known& known) {
  if (pipeline.commands.size() != 1) return std::nullopt;
  const Outcome outcome = of_command(pipeline.commands[0], known);
  return pipeline.negated ? not_(outcome) : outcome;
}

std::optional<bool> outcome_of(const shell::Statements& condition, const Known& known) {
  if (condition.size() != 1 || condition[0].background || condition[0].pipelines.empty())
    return std::nullopt;
  const shell::Statement& statement = condition[0];
  Outcome all = outcome_of(statement.pipelines[0], known);
  for (std::size_t i = 1; i < statement.pipelines.size(); ++i) {
    const Outcome next = outcome_of(statement.pipelines[i], known);
    all = statement.joints[i - 1] == "&&" ? and_(all, next) : or_(all, next);
  }
  return all;
}

std::optional<std::size_t> choice_of(const shell::Command& choice, const Known& known) {
  if (choice.words.size() != 1 || choice.choices.size() != choice.bodies.size() ||
      has_side_effect(choice))
    return std::nullopt;
  const KnownText word = known.text(choice.words[0]);
  if (!word.is_exact()) return std::nullopt;
  for (std::size_t i = 0; i < choice.choices.size(); ++i) {
    for (const Word& one : choice.choices[i].patterns) {
      const auto pattern = pattern_of(one, known);
      if (!pattern) return std::nullopt;
      if (!matches(word.text, *pattern)) continue;
      const std::string& ending = choice.choices[i].ending;
      return ending.empty() || ending == ";;" ? std::optional(i) : std::nullopt;
    }
  }
  return choice.bodies.size();
}

std::string facts_of(std::string_view text, const Known& known) {
  constexpr std::size_t k_longest = 40;
  std::vector<std::string> facts;
  for (const std::string& name : used_names(text)) {
    const KnownText value = known.variable(name);
    if (value.kind == KnownText::Kind::some) facts.push_back(name + " is set");
    if (!value.is_exact()) continue;
    // Every word of arithmetic may be a name.
    const bool is_expanded = text.find("$" + name) != std::string_view::npos ||
                             text.find("${" + name) != std::string_view::npos;
    if (value.text.empty() && (value.is_set || is_expanded))
      facts.push_back(name + (value.is_set ? " is empty" : " is not set"));
    else if (!value.text.empty())
      facts.push_back(name + " is " + value.text.substr(0, k_longest));
  }
  return join(facts, ", ");
}

}  // namespace dts::convert
