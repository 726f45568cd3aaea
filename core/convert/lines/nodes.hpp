// SPDX-License-Identifier: Apache-2.0
// The nodes of a job on which a line of the set-up or tear-down runs. Slurm runs a script on the
// first node (sbatch(1)), dtsubmit a set-up on each. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>

namespace dts::convert {

enum class RunsOn {
  each,
  first,                  // as the script does: its effects are seen by all nodes, or wanted once
  first_unless_function,  // a file that the script reads may have defined it, for each node's shell
  each_unlike  // on each, since it may be needed there, where the script does it on the first alone
};

// True if it is a program, not a function that a sourced file may have defined: ./prog, python.
[[nodiscard]] bool is_program(const lint::Run& run);

// For jobs of several nodes. Commands of what is first_unless_function are named_commands().
[[nodiscard]] RunsOn runs_on(const Item& item);

// The item's commands, but those that do no harm on each node, as `type -t` takes them; empty: it
// has none, or a name is not plain.
[[nodiscard]] std::string named_commands(const Item& item);

// What other nodes do where the first node alone runs a line.
enum class Others {
  wait,    // and get its exit code
  ignore,  // nobody waits: the line is of the tear-down, or of a later role
  lead     // another role's first node runs it, for which all nodes wait
};

struct Turn {
  std::size_t number = 0;     // of no other line
  bool is_code_read = false;  // by the next line
  Others others = Others::wait;
};

// `text`, as the item's line is written in a job of several nodes.
[[nodiscard]] std::string in_turn(const Item& item, const std::string& text, const Turn& turn);

// The functions that lines of in_turn() call, in front of them. Of a job with roles, all roles wait
// for the same node.
[[nodiscard]] std::string with_turns(std::string text, bool are_roles);

// `text`, the item's text, with the first node's name instead of its own node's where it sets a
// variable: ADDR=$(hostname):$PORT. The script's shell runs on the first node.
[[nodiscard]] std::string with_first_node(const Item& item, std::string text);

// The account's note on this, and on values that a script computes once; "": nothing to note.
[[nodiscard]] std::string note_on(const Item& item, bool has_many_nodes, bool is_tear_down);

// The same for a line of the tear-down, with the limits of dtsubmit-environment(7).
[[nodiscard]] std::string note_on_tear_down(const Item& item, const std::string& note);

}  // namespace dts::convert
