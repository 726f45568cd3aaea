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

// "$@", time "$@", srun -n 4 "$@"; null: another command.
const Piece* arguments_run_by(const Command& one) {
  if (one.kind != Command::Kind::simple || !one.redirections.empty() || !one.assignments.empty() ||
      one.words.empty())
    return nullptr;
  const std::string first = literal_of(one.words[0]);
  const bool is_launched = one.words.size() > 1 && (first == "srun" || first == "mpirun");
  const std::size_t at = is_launched ? one.words.size() - 1 : first == "time" ? 1 : 0;
  const bool is_literal = std::none_of(one.words.begin(),
                                       one.words.begin() + static_cast<std::ptrdiff_t>(at),
                                       [](const auto& word) { return literal_of(word).empty(); });
  return is_literal && one.words.size() == at + 1 ? arguments_in(one.words[at]) : nullptr;
}

shell::Span launcher_of(const Command& one) {
  return literal_of(one.words[0]) == "time" || one.words.size() < 2
             ? shell::Span{}
             : shell::Span{one.words[0].span.begin, one.words[one.words.size() - 2].span.end};
}

}  // namespace

void Wrappers::see(const shell::Statement& statement) {
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
  if (is_simple && runs.size() == 1) functions_[function.name] = runs[0];
}

std::optional<Wrappers::Wrapper> Wrappers::wrapper_in(const shell::Statement& statement) const {
  if (statement.pipelines.empty() || statement.pipelines[0].commands.empty()) return std::nullopt;
  const Command& command = statement.pipelines[0].commands[0];
  if (command.kind != Command::Kind::simple || command.words.size() < 2) return std::nullopt;
  const auto found = functions_.find(literal_of(command.words[0]));
  if (found == functions_.end()) return std::nullopt;
  const bool splits = std::any_of(command.words.begin(), command.words.end(), has_quoted_blank);
  if (splits && !found->second.takes_words) return std::nullopt;
  return Wrapper{command.words[0].span, found->second.launcher};
}

}  // namespace dts::convert
