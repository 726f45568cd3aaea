// SPDX-License-Identifier: Apache-2.0
// Programs that a script starts side by side on their own nodes, as roles of a job. Pure.
#pragma once

#include "core/convert/known/node_values.hpp"
#include "core/convert/parts.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::convert {

// Programs that run on the same nodes.
struct Troupe {
  std::string name;
  NodeRange nodes;
  std::vector<std::size_t> programs;    // their places among the script's programs, in order
  bool are_alike = false;               // the same program once for each of the nodes
  bool until_others_end = false;        // the script does not wait for them
  bool is_one_world = false;            // each is a node's part of one training
  std::optional<std::size_t> beside{};  // the role whose nodes it shares, by its index
};

struct Cast {
  std::vector<std::optional<NodeRange>> nodes;  // of each program of the script
  // By their nodes. Empty: nothing runs side by side, or not on distinct nodes. One: all
  // run on one node, started by one shell.
  std::vector<Troupe> roles;
  // Variables of the script that hold the name or address of a role's first node, by the variable
  // that each role has for it: DTSUBMIT_ROLE_HEAD_ADDR.
  std::map<std::string, std::string> addresses;
  // The first of the script's parts that no longer runs alongside programs.
  std::size_t end = 0;
  bool waits_at_end = false;  // the script waits for what home() runs in the background
  bool is_sequence = false;   // the programs of the only role run one after another
  bool are_beside = false;    // each role is one step, on a part of a node
  bool spare_others = false;  // of these, one that fails does not end the others
  bool lacks_room = false;    // the steps that start at once are more than the job has room for
  // Programs that are parts of one training, but cannot be made one program.
  std::vector<bool> is_split;

  [[nodiscard]] bool has_roles() const { return roles.size() > 1; }

  // The role that is all that runs on the node of the batch script, and on no other; null: none.
  [[nodiscard]] const Troupe* home() const;
};

// `known` is updated up to the script's end. The parts have their verdicts.
[[nodiscard]] Cast cast_of(const std::vector<Part>& parts,
                           const lint::Job& job,
                           const Resolver& resolver,
                           Known& known);

}  // namespace dts::convert
