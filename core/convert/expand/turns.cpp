// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/turns.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/known/sequence.hpp"

#include <fmt/format.h>

namespace dts::convert {
namespace {

std::optional<Turns> quoted(std::optional<Turns> turns) {
  if (turns)
    for (std::string& value : turns->second) value = shell_quote(value);
  return turns;
}

// for NODE in "${NODES[@]:1}": ${NODES[1]} and so on. for NODE in $(scontrol show hostnames): a
// command for each line of that list.
std::optional<std::vector<std::string>> elements_of_nodes(const shell::Command& command,
                                                          const NodeValues& nodes) {
  using Kind = shell::Piece::Kind;
  const shell::Piece* piece = command.words.size() == 1 ? only_piece(command.words[0]) : nullptr;
  if (piece == nullptr) return std::nullopt;
  const auto some = nodes.nodes_of(command.words[0]);
  if (!some || some->size() > k_most_turns) return std::nullopt;
  std::vector<std::string> elements;
  if (piece->kind == Kind::parameter && piece->operation.starts_with("[")) {
    const auto all = nodes.nodes_of(piece->text);
    if (!all) return std::nullopt;
    for (std::size_t i = some->begin; i < some->end; ++i)
      elements.push_back(fmt::format("\"${{{}[{}]}}\"", piece->text, i - all->begin));
    return elements;
  }
  const bool is_list =
      piece->kind == Kind::command || (piece->kind == Kind::parameter && piece->operation.empty());
  if (!is_list || piece->quoted) return std::nullopt;
  for (std::size_t i = some->begin; i < some->end; ++i)
    elements.push_back(
        fmt::format("\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n {}p)\"", i + 1));
  return elements;
}

}  // namespace

std::optional<Turns> turns_of(const shell::Command& command,
                              std::string_view text,
                              const Known& known,
                              const NodeValues& nodes) {
  if (command.words.empty()) return std::nullopt;
  if (command.name.empty()) {
    const std::size_t open = text.find("((", command.span.begin);
    const std::size_t close = text.find("))", command.span.begin);
    if (open >= close || close >= command.span.end) return std::nullopt;
    return quoted(counted_turns(text.substr(open + 2, close - open - 2), known));
  }
  if (!shell::is_name_begin(command.name[0]) ||
      text.substr(command.span.begin).starts_with("select"))
    return std::nullopt;
  if (auto elements = elements_of_nodes(command, nodes))
    return Turns{command.name, std::move(*elements)};
  auto words = known.words(command.words);
  if (!words) return std::nullopt;
  return quoted(Turns{command.name, std::move(*words)});
}

}  // namespace dts::convert
