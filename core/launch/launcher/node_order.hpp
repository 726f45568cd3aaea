// SPDX-License-Identifier: Apache-2.0
// The order that `dtsubmit ssh` writes to the standard input of `dtsubmit node`: which ranks to
// start, and how. It is not passed on a command line, which every user could read and a shell would
// have to parse. Pure.
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
  std::string node;         // as --hosts spells it
  unsigned first_rank = 0;  // the others have the next numbers
  unsigned ranks = 1;
  unsigned world_size = 1;
  std::string folder;                    // working directory
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<std::string> command;      // the program's argv
};

// One order for each of the plan's hosts, in their order. The caller sets run directory,
// environment and folder.
[[nodiscard]] std::vector<NodeOrder> node_orders(const plan::Plan& plan);

// The order as text for the pipe. Members may hold any byte except NUL.
[[nodiscard]] std::string to_bytes(const NodeOrder& order);

// nullopt: `bytes` is incomplete. Errc::invalid: not an order, or from another version of dtsubmit.
[[nodiscard]] Result<std::optional<NodeOrder>> parse_node_order(std::string_view bytes);

// True for variables that belong to a machine or to a user's session on it (HOSTNAME, SSH_*, XDG_*,
// DISPLAY, ...). They are not sent: the other machine has its own.
[[nodiscard]] bool is_machine_variable(std::string_view name);

}  // namespace dts::launch
