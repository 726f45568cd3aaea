// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/wrapper.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <vector>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;

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
         is_one_of(k_beside, one.words.empty() ? "" : literal_of(one.words[0]));
}

// "$@", time "$@"; null: another command.
const Piece* arguments_run_by(const Command& one) {
  if (one.kind != Command::Kind::simple || !one.redirections.empty() || !one.assignments.empty() ||
      one.words.empty())
    return nullptr;
  const std::size_t at = literal_of(one.words[0]) == "time" ? 1 : 0;
  return one.words.size() == at + 1 ? arguments_in(one.words[at]) : nullptr;
}

}  // namespace

void Wrappers::see(const shell::Statement& statement) {
  if (statement.pipelines.size() != 1 || statement.pipelines[0].commands.size() != 1) return;
  const Command& function = statement.pipelines[0].commands[0];
  if (function.kind != Command::Kind::function) return;
  functions_.erase(function.name);
  std::vector<const Piece*> runs;
  bool is_simple = true;
  for (const shell::Statements& body : function.bodies)
    each_command(body, [&](const Command& one) {
      if (is_beside(one)) return;
      runs.push_back(arguments_run_by(one));
      is_simple = is_simple && runs.back() != nullptr;
    });
  if (is_simple && runs.size() == 1) functions_[function.name] = runs[0]->quoted;
}

std::optional<shell::Span> Wrappers::wrapper_in(const shell::Statement& statement) const {
  if (statement.pipelines.empty() || statement.pipelines[0].commands.empty()) return std::nullopt;
  const Command& command = statement.pipelines[0].commands[0];
  if (command.kind != Command::Kind::simple || command.words.size() < 2) return std::nullopt;
  const auto found = functions_.find(literal_of(command.words[0]));
  if (found == functions_.end()) return std::nullopt;
  const bool splits = std::any_of(command.words.begin(), command.words.end(), has_quoted_blank);
  if (splits && !found->second) return std::nullopt;
  return command.words[0].span;
}

}  // namespace dts::convert
