// SPDX-License-Identifier: Apache-2.0
// Which of the job's nodes the variables of a script name, statement by statement. Pure.
#pragma once

#include "core/convert/known/known.hpp"
#include "core/convert/known/own_nodes.hpp"
#include "core/shell/syntax.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace dts::convert {

// Nodes of the job by their place in its list, from `begin` up to and without `end`; never empty.
struct NodeRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::size_t size() const { return end - begin; }

  [[nodiscard]] bool meets(const NodeRange& other) const {
    return begin < other.end && other.begin < end;
  }

  bool operator==(const NodeRange&) const = default;
};

// Understands how scripts name nodes: scontrol show hostnames, head and tail, elements and
// slices of arrays, hostname in the batch script and through srun -w. Names and addresses of nodes
// are not distinguished.
class NodeValues {
 public:
  // `known` has the numbers; it must outlive this and be updated in step with it.
  NodeValues(std::size_t nodes, const Known& known) : nodes_(nodes), known_(known) {}

  // The statement has been run, once.
  void follow(const shell::Statement& statement);

  // The nodes that the word names; nullopt if it names none or they are not known.
  [[nodiscard]] std::optional<NodeRange> nodes_of(const shell::Word& word) const;
  [[nodiscard]] std::optional<NodeRange> nodes_of(const std::string& variable) const;

  // Those of an array, an element each.
  [[nodiscard]] std::optional<NodeRange> nodes_of_array(const std::string& name) const;

  // How many nodes the word counts: $(scontrol show hostnames | wc -l); nullopt: it counts none.
  [[nodiscard]] std::optional<std::size_t> count_in(const shell::Word& word) const;

  // `count`: on how many nodes the step runs, if that is known.
  [[nodiscard]] std::optional<NodeRange> nodes_of(const OwnNodes& own,
                                                  std::optional<std::uint64_t> count) const;

 private:
  struct Value {
    NodeRange nodes;
    bool is_array = false;
    bool has_words = false;  // one for each node, unlike in n[0-3]
  };

  using MaybeNodes = std::optional<NodeRange>;

  void assign(const shell::Assignment& one);
  [[nodiscard]] std::optional<Value> array_of(const shell::Assignment& one) const;
  void read_lines(const shell::Command& command);
  [[nodiscard]] static bool list_hosts(const shell::Statements& commands);
  [[nodiscard]] bool has_words(const shell::Word& word) const;
  [[nodiscard]] MaybeNodes of_list(const shell::Word& word) const;
  [[nodiscard]] MaybeNodes of_parameter(const shell::Piece& piece) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string text) const;
  [[nodiscard]] MaybeNodes of_element(const Value& value, const std::string& index) const;
  [[nodiscard]] MaybeNodes of_slice(const Value& value, const std::string& operation) const;
  [[nodiscard]] MaybeNodes of_commands(const shell::Statements& commands) const;
  [[nodiscard]] MaybeNodes of_command(const shell::Command& command) const;
  [[nodiscard]] MaybeNodes piped(const shell::Pipeline& pipeline, std::size_t commands) const;
  [[nodiscard]] MaybeNodes filtered(const shell::Command& filter, NodeRange nodes) const;
  [[nodiscard]] MaybeNodes line_of(const shell::Command& filter, NodeRange nodes) const;

  std::size_t nodes_;
  const Known& known_;
  std::map<std::string, Value> values_;
  Names changing_;  // arrays that functions set
};

// The statement has been run, once: both follow it, and `known` gets the numbers of nodes that it
// counts, N=$(scontrol show hostnames | wc -l), and those of arrays, ${#NODES[@]}.
void follow(const shell::Statement& statement, Known& known, NodeValues& nodes);

}  // namespace dts::convert
