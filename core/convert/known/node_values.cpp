// SPDX-License-Identifier: Apache-2.0
#include "core/convert/known/node_values.hpp"

#include "core/base/text/text.hpp"
#include "core/lint/script/program.hpp"
#include "core/lint/script/values.hpp"

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

// Whether a command of the statement has the variable, or its name, in one of its words.
bool reads(const shell::Statement& statement, const std::string& name) {
  bool reads_it = false;
  each_command(statement, [&](const Command& one) {
    for (const Word& word : one.words)
      for (const Piece& piece : word.pieces) reads_it = reads_it || piece.text == name;
  });
  return reads_it;
}

}  // namespace

MaybeNodes NodeValues::nodes_of(const OwnNodes& own, std::optional<std::uint64_t> count) const {
  if (!own.is_relative) return nodes_of(own.word);
  const KnownText text = known_.text(own.word);
  const auto first = text.is_exact() ? parse_number(text.text) : std::nullopt;
  if (!first || *first >= nodes_ || !count || *count == 0 || *count > nodes_ - *first)
    return std::nullopt;
  const auto begin = static_cast<std::size_t>(*first);
  return NodeRange{begin, begin + static_cast<std::size_t>(*count)};
}

void follow(const shell::Statement& statement, Known& known, NodeValues& nodes) {
  known.follow(statement);
  nodes.follow(statement);
  const Command* command = simple_command(statement);
  if (command == nullptr || statement.background) return;
  for (const shell::Assignment& one : command->assignments)
    if (const auto count = nodes.count_in(one.value);
        count && !one.is_array && !one.appends && !one.is_element)
      known.set(one.name, std::to_string(*count));
}

void NodeValues::follow(const shell::Statement& statement) {
  const Command* command = simple_command(statement);
  const std::string verb = command == nullptr ? "" : first_word(*command);
  const bool declares = verb == "export" || verb == "declare" || verb == "readonly";
  if (command != nullptr && !statement.background && (command->words.empty() || declares)) {
    for (const shell::Assignment& one : command->assignments) assign(one);
    return;
  }
  if (command != nullptr && (verb == "mapfile" || verb == "readarray")) return read_lines(*command);
  // if [[ $ip == *" "* ]]; then ip=...: another name of the same node.
  const SetNames sets = set_names(statement);
  for (const auto* all : {&sets.variables, &sets.arrays})
    for (const std::string& name : *all) {
      const auto before = values_.find(name);
      if (before == values_.end()) continue;
      if (before->second.nodes.size() != 1 || !reads(statement, name)) values_.erase(before);
    }
}

void NodeValues::assign(const shell::Assignment& one) {
  MaybeNodes nodes;
  if (one.is_array) {
    for (const Word& word : one.elements) {
      const MaybeNodes next = nodes_of(word);
      const bool fits = next && (!nodes || nodes->end == next->begin);
      if (!fits) return (void)values_.erase(one.name);
      nodes = nodes ? NodeRange{nodes->begin, next->end} : *next;
    }
  } else if (!one.appends && !one.is_element) {
    nodes = nodes_of(one.value);
  }
  if (!nodes) return (void)values_.erase(one.name);
  values_[one.name] = {*nodes, one.is_array};
}

// mapfile -t NODES < <(scontrol show hostnames)
void NodeValues::read_lines(const Command& command) {
  const std::string name = literal_of(command.words.back());
  values_.erase(name);
  if (command.redirections.size() != 1) return;
  const Piece* piece = only_piece(command.redirections[0].target);
  if (piece == nullptr || piece->kind == Piece::Kind::literal) return;
  const MaybeNodes nodes = piece->kind == Piece::Kind::process
                               ? of_commands(piece->commands)
                               : nodes_of(command.redirections[0].target);
  if (nodes) values_[name] = {*nodes, true};
}

MaybeNodes NodeValues::nodes_of(const Word& word) const {
  const Piece* piece = only_piece(word);
  if (piece == nullptr) return std::nullopt;
  if (piece->kind == Piece::Kind::parameter) return of_parameter(*piece);
  if (piece->kind == Piece::Kind::command) return of_commands(piece->commands);
  return std::nullopt;
}

MaybeNodes NodeValues::nodes_of(const std::string& variable) const {
  const auto value = values_.find(variable);
  return value == values_.end() ? std::nullopt : MaybeNodes(value->second.nodes);
}

MaybeNodes NodeValues::of_parameter(const Piece& piece) const {
  if (piece.operation.empty()) {
    if (piece.text == "SLURMD_NODENAME" || piece.text == "HOSTNAME") return NodeRange{0, 1};
    if (piece.text == "SLURM_JOB_NODELIST" || piece.text == "SLURM_NODELIST")
      return NodeRange{0, nodes_};
  }
  const auto found = values_.find(piece.text);
  if (found == values_.end()) return std::nullopt;
  const Value& value = found->second;
  const std::size_t first = value.nodes.begin;
  if (piece.operation.empty()) return value.is_array ? NodeRange{first, first + 1} : value.nodes;
  return of_slice(value, piece.operation);
}

// 2, $((i + 1))
std::optional<std::int64_t> NodeValues::number(std::string text) const {
  if (text.starts_with("$((") && text.ends_with("))")) text = text.substr(3, text.size() - 5);
  return known_.number(trim(text));
}

// [0], [-1]
MaybeNodes NodeValues::of_element(const Value& value, const std::string& index) const {
  const auto size = static_cast<std::int64_t>(value.nodes.size());
  const bool from_end = index.starts_with('-');
  auto at = number(index.substr(from_end ? 1 : 0));
  if (at && from_end) at = size - *at;
  if (!at || *at < 0 || *at >= size) return std::nullopt;
  const std::size_t begin = value.nodes.begin + static_cast<std::size_t>(*at);
  if (value.is_array || size == 1) return NodeRange{begin, begin + 1};
  // The first element of a list in a single word is all of it.
  return *at == 0 ? MaybeNodes(value.nodes) : std::nullopt;
}

// [0], [-1], [@], [@]:1, [@]:0:3
MaybeNodes NodeValues::of_slice(const Value& value, const std::string& operation) const {
  const NodeRange nodes = value.nodes;
  const std::size_t close = operation.find(']');
  if (operation[0] != '[' || close == std::string::npos) return std::nullopt;
  const std::string index = operation.substr(1, close - 1);
  const std::string rest = operation.substr(close + 1);
  if (index != "@" && index != "*") return rest.empty() ? of_element(value, index) : std::nullopt;
  if (rest.empty()) return nodes;
  const auto size = static_cast<std::int64_t>(nodes.size());
  const std::vector<std::string> parts = split(rest, ':');
  if (parts.size() < 2 || parts.size() > 3 || !parts[0].empty()) return std::nullopt;
  const auto from = number(parts[1]);
  const auto count = parts.size() == 3 ? number(parts[2]) : std::optional<std::int64_t>(size);
  if (!from || !count || *from < 0 || *from >= size || *count < 1) return std::nullopt;
  return NodeRange{nodes.begin + static_cast<std::size_t>(*from),
                   nodes.begin + static_cast<std::size_t>(std::min(*from + *count, size))};
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
  if (verb == "sort" || verb == "uniq") return nodes;
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
