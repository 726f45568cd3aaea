// SPDX-License-Identifier: Apache-2.0
#include "core/convert/known/node_values.hpp"

#include "core/base/text/text.hpp"
#include "core/lint/script/values.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;
using shell::Word;
using MaybeNodes = std::optional<NodeRange>;

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
  const SetNames sets = set_names(statement);
  for (const auto* all : {&sets.variables, &sets.arrays})
    for (const std::string& name : *all) {
      const MaybeNodes elements = nodes.nodes_of_array(name);
      known.set_count(name, elements ? std::optional(elements->size()) : std::nullopt);
    }
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
  if (!sets.functions.empty()) changing_.insert(sets.arrays.begin(), sets.arrays.end());
  for (const auto* all : {&sets.variables, &sets.arrays})
    for (const std::string& name : *all) {
      const auto before = values_.find(name);
      if (before == values_.end()) continue;
      if (verb == "unset" || before->second.nodes.size() != 1 || !reads(statement, name))
        values_.erase(before);
    }
}

void NodeValues::assign(const shell::Assignment& one) {
  std::optional<Value> value;
  if (one.is_array) {
    value = array_of(one);
  } else if (!one.appends && !one.is_element) {
    if (const MaybeNodes nodes = nodes_of(one.value)) value = {*nodes, false, has_words(one.value)};
  }
  if (!value) return (void)values_.erase(one.name);
  values_[one.name] = *value;
}

std::optional<NodeValues::Value> NodeValues::array_of(const shell::Assignment& one) const {
  std::optional<Value> array;
  if (one.appends) {
    const auto before = values_.find(one.name);
    if (before == values_.end() || !before->second.is_array) return std::nullopt;
    array = before->second;
  }
  for (const Word& word : one.elements) {
    const MaybeNodes next = nodes_of(word);
    const bool fits = next && (!array || array->nodes.end == next->begin);
    if (!fits) return std::nullopt;
    const Piece* piece = only_piece(word);
    const bool is_split =
        piece != nullptr && (!piece->quoted || piece->operation.starts_with("[@]"));
    const bool is_word = next->size() == 1 || (is_split && has_words(word));
    if (!array) array = Value{{next->begin, next->begin}, true, true};
    array->nodes.end = next->end;
    array->has_words = array->has_words && is_word;
  }
  return array;
}

// mapfile -t NODES < <(scontrol show hostnames)
void NodeValues::read_lines(const Command& command) {
  const std::string name = literal_of(command.words.back());
  values_.erase(name);
  if (command.redirections.size() != 1) return;
  for (std::size_t i = 1; i + 1 < command.words.size(); ++i)
    if (literal_of(command.words[i]) != "-t") return;  // -n, -s, -O: some lines, or other places
  const Piece* piece = only_piece(command.redirections[0].target);
  if (piece == nullptr || piece->kind == Piece::Kind::literal) return;
  const MaybeNodes nodes = piece->kind == Piece::Kind::process
                               ? of_commands(piece->commands)
                               : nodes_of(command.redirections[0].target);
  const bool has_words = piece->kind == Piece::Kind::process
                             ? list_hosts(piece->commands)
                             : this->has_words(command.redirections[0].target);
  if (nodes) values_[name] = {*nodes, true, has_words};
}

bool NodeValues::has_words(const Word& word) const {
  const Piece* piece = only_piece(word);
  if (piece == nullptr) return false;
  if (piece->kind == Piece::Kind::command) return list_hosts(piece->commands);
  const auto value = values_.find(piece->text);
  return piece->kind == Piece::Kind::parameter && value != values_.end() && value->second.has_words;
}

// ${NODES[1]},${NODES[2]}
MaybeNodes NodeValues::of_list(const Word& word) const {
  MaybeNodes nodes;
  bool is_next = true;
  for (const Piece& piece : word.pieces) {
    if (piece.kind == Piece::Kind::literal && (piece.text.empty() || piece.text == ",")) {
      is_next = is_next || !piece.text.empty();
      continue;
    }
    const MaybeNodes next =
        is_next && piece.kind == Piece::Kind::parameter ? of_parameter(piece) : std::nullopt;
    if (!next || (nodes && nodes->end != next->begin)) return std::nullopt;
    nodes = NodeRange{nodes ? nodes->begin : next->begin, next->end};
    is_next = false;
  }
  return nodes;
}

MaybeNodes NodeValues::nodes_of_array(const std::string& name) const {
  const auto value = values_.find(name);
  const bool has_elements = value != values_.end() && changing_.count(name) == 0 &&
                            value->second.is_array && value->second.has_words;
  return has_elements ? MaybeNodes(value->second.nodes) : std::nullopt;
}

MaybeNodes NodeValues::nodes_of(const Word& word) const {
  const Piece* piece = only_piece(word);
  if (piece == nullptr) return of_list(word);
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

}  // namespace dts::convert
