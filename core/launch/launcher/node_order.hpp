// SPDX-License-Identifier: Apache-2.0
// The order that `dtsubmit ssh` gives `dtsubmit node` on its standard input: which ranks to start,
// and how. None of it appears on a command line, which everyone could read and a shell would have
// to parse. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

struct NodeOrder {
  std::string run_directory;
  unsigned attempt = 1;
  std::string node;         // as --hosts names it
  unsigned first_rank = 0;  // and the ranks that follow
  unsigned ranks = 1;
  unsigned world_size = 1;
  std::string folder;                    // working directory
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<std::string> command;      // the program's argv
};

// One order for each of the plan's hosts, in order; run directory, environment and folder are left
// empty.
[[nodiscard]] std::vector<NodeOrder> node_orders(const plan::Plan& plan);

// Texts may hold any byte except NUL.
[[nodiscard]] std::string to_bytes(const NodeOrder& order);

// nullopt: incomplete. Errc::invalid: not an order, or one of another version of dtsubmit.
[[nodiscard]] Result<std::optional<NodeOrder>> parse_node_order(std::string_view bytes);

// True for variables that belong to a machine or to a person's session on it (HOSTNAME, SSH_*,
// XDG_*, DISPLAY, ...): the other machine keeps its own, and ours are not sent to it.
[[nodiscard]] bool stays_with_machine(std::string_view name);

}  // namespace dts::launch
