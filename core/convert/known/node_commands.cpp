// SPDX-License-Identifier: Apache-2.0
// The nodes that commands of substitutions print.
#include "core/base/text/text.hpp"
#include "core/convert/known/node_values.hpp"
#include "core/lint/script/program.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;
using shell::Word;
using MaybeNodes = std::optional<NodeRange>;

// Of one host they make one host, whatever they cut out of its line.
constexpr std::string_view k_line_filters[] = {
    "awk", "cut", "tr", "grep", "sed", "sort", "uniq", "xargs", "cat"};

// What prints the name or an address of the node that it runs on.
constexpr std::string_view k_askers[] = {"hostname", "ip", "ifconfig"};

// The commands of a substitution that print: without IFS=, and the like.
const shell::Pipeline* printing(const shell::Statements& commands) {
  if (commands.empty() || commands.back().pipelines.empty()) return nullptr;
  for (std::size_t i = 0; i + 1 < commands.size(); ++i) {
    const Command* one = simple_command(commands[i]);
    if (one == nullptr || !one->words.empty()) return nullptr;
  }
  return &commands.back().pipelines[0];
}

}  // namespace

// scontrol show hostnames, which prints a line for each node, and filters behind it.
bool NodeValues::list_hosts(const shell::Statements& commands) {
  const shell::Pipeline* pipeline = printing(commands);
  return pipeline != nullptr && lint::base_name(first_word(pipeline->commands[0])) == "scontrol";
}

MaybeNodes NodeValues::of_commands(const shell::Statements& commands) const {
  const shell::Pipeline* pipeline = printing(commands);
  if (pipeline == nullptr || commands.back().pipelines.size() != 1) return std::nullopt;
  return piped(*pipeline, pipeline->commands.size());
}

MaybeNodes NodeValues::piped(const shell::Pipeline& pipeline, std::size_t commands) const {
  MaybeNodes nodes = of_command(pipeline.commands[0]);
  for (std::size_t i = 1; i < commands && nodes; ++i)
    nodes = filtered(pipeline.commands[i], *nodes);
  return nodes;
}

std::optional<std::size_t> NodeValues::count_in(const Word& word) const {
  const Piece* piece = only_piece(word);
  const shell::Pipeline* pipeline =
      piece != nullptr && piece->kind == Piece::Kind::command ? printing(piece->commands) : nullptr;
  if (pipeline == nullptr || pipeline->commands.size() < 2) return std::nullopt;
  const Command& last = pipeline->commands.back();
  // Other commands print more than one word or line for a node, or one for several.
  const bool counts = lint::base_name(first_word(pipeline->commands[0])) == "scontrol" &&
                      last.kind == Command::Kind::simple && last.words.size() == 2 &&
                      first_word(last) == "wc" &&
                      (literal_of(last.words[1]) == "-l" || literal_of(last.words[1]) == "-w");
  const MaybeNodes nodes = counts ? piped(*pipeline, pipeline->commands.size() - 1) : std::nullopt;
  return nodes ? std::optional(nodes->size()) : std::nullopt;
}

MaybeNodes NodeValues::of_command(const Command& command) const {
  if (command.kind != Command::Kind::simple) return std::nullopt;
  const std::string verb = lint::base_name(first_word(command));
  const auto& words = command.words;
  if (is_one_of(k_askers, verb)) return NodeRange{0, 1};
  if (verb == "srun") {
    const bool asks = std::any_of(words.begin(), words.end(), [](const Word& one) {
      return is_one_of(k_askers, lint::base_name(literal_of(one)));
    });
    const auto where = own_nodes_of(command, command.span.end);
    return asks && where ? nodes_of(*where, 1) : std::nullopt;
  }
  if (verb == "scontrol") {
    const bool shows = words.size() > 2 && literal_of(words[1]) == "show" &&
                       literal_of(words[2]).starts_with("hostname");
    if (!shows) return std::nullopt;
    return words.size() == 3 ? MaybeNodes(NodeRange{0, nodes_}) : nodes_of(words[3]);
  }
  const bool names = verb == "echo" || verb == "getent" || verb == "host" || verb == "dig";
  return names && words.size() > 1 ? nodes_of(words.back()) : std::nullopt;
}

// sed -n 2p, sed -n "$((i + 1))p"
MaybeNodes NodeValues::line_of(const Command& filter, NodeRange nodes) const {
  if (filter.words.size() != 3 || literal_of(filter.words[1]) != "-n") return std::nullopt;
  const KnownText known = known_.text(filter.words[2]);
  const std::string& line = known.text;
  const auto number = known.is_exact() && line.ends_with('p')
                          ? parse_number(line.substr(0, line.size() - 1))
                          : std::nullopt;
  if (!number || *number == 0 || *number > nodes.size()) return std::nullopt;
  const std::size_t begin = nodes.begin + static_cast<std::size_t>(*number) - 1;
  return NodeRange{begin, begin + 1};
}

MaybeNodes NodeValues::filtered(const Command& filter, NodeRange nodes) const {
  const std::string verb = first_word(filter);
  if (nodes.size() == 1 && (is_one_of(k_line_filters, verb) || verb == "head" || verb == "tail"))
    return nodes;
  if (verb == "sort" || (verb == "uniq" && filter.words.size() == 1)) return nodes;
  if (verb == "sed") return line_of(filter, nodes);
  if (verb != "head" && verb != "tail") return std::nullopt;
  // head -n 1, head -1, tail -n +2
  std::string count;
  for (std::size_t i = 1; i < filter.words.size(); ++i) count += literal_of(filter.words[i]);
  if (!count.starts_with('-')) return std::nullopt;
  count.erase(0, count.starts_with("-n") ? 2 : 1);
  const bool is_from = verb == "tail" && count.starts_with('+');
  const auto number = parse_number(is_from ? count.substr(1) : count);
  if (!number || *number == 0) return std::nullopt;
  const std::size_t some = std::min<std::size_t>(*number, nodes.size());
  if (is_from)
    return *number > nodes.size() ? std::nullopt
                                  : MaybeNodes(NodeRange{nodes.begin + some - 1, nodes.end});
  return verb == "head" ? NodeRange{nodes.begin, nodes.begin + some}
                        : NodeRange{nodes.end - some, nodes.end};
}

}  // namespace dts::convert
