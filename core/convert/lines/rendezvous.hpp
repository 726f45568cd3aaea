// SPDX-License-Identifier: Apache-2.0
// The lines of a script that determine where its ranks meet, which dtsubmit does itself. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <map>
#include <string>
#include <vector>

namespace dts::convert {

struct Rendezvous {
  std::map<std::string, std::string> others;  // head_node_ip: MASTER_ADDR
  // By the text that replaces them: DTSUBMIT_ROLE_HEAD_ADDR.
  std::map<std::string, std::string> addresses{};
  Names hosts;  // all variables that are made of the names of the job's nodes

  [[nodiscard]] bool has(const std::string& name) const;
};

[[nodiscard]] Rendezvous rendezvous_of(const std::vector<Item>& items, const lint::Job& job);

// Variables that every rank gets from dtsubmit, so that a script's own values are overridden.
[[nodiscard]] bool is_given(std::string_view name);

// True if the text looks up names or addresses of hosts.
[[nodiscard]] bool asks_for_hosts(std::string_view text);

// True if it only sets variables, from the output of srun or the like. In a set-up, such a step
// would wait for the nodes on which the set-up runs.
[[nodiscard]] bool starts_step_inside(const Item& item);

// True if first_node_line() runs instead of the line's own text.
[[nodiscard]] bool is_first_node(const Item& item,
                                 const Rendezvous& rendezvous,
                                 bool has_many_nodes);

// True if it uses a node's address, not its name: hostname -i, ip addr, getent.
[[nodiscard]] bool asks_for_address(const Item& item);

// Corrects lines that name the first node for when every node runs them: they give its name, or its
// address if the script does so.
[[nodiscard]] std::string first_node_line(const Item& item);

// The same for a line whose variables differ in the roles of a job; empty if they do not.
[[nodiscard]] std::string address_line(const Item& item, const Rendezvous& rendezvous);

}  // namespace dts::convert
