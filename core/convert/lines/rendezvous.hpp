// SPDX-License-Identifier: Apache-2.0
// The lines of a script that find out where its ranks meet, which dtsubmit does itself. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <map>
#include <string>
#include <vector>

namespace dts::convert {

struct Rendezvous {
  std::map<std::string, std::string> others;  // head_node_ip: MASTER_ADDR
  // By what their lines are to say instead: DTSUBMIT_ROLE_HEAD_ADDR.
  std::map<std::string, std::string> addresses{};
  Names hosts;  // all variables that are made of the names of the job's nodes

  [[nodiscard]] bool has(const std::string& name) const;
};

[[nodiscard]] Rendezvous rendezvous_of(const std::vector<Item>& items, const lint::Job& job);

// Variables that every rank gets from dtsubmit, so that a script's own values are overridden.
[[nodiscard]] bool is_given(std::string_view name);

// The text looks up names or addresses of hosts.
[[nodiscard]] bool asks_for_hosts(std::string_view text);

// It only sets variables, by the output of srun or the like. In a set-up such a step would wait for
// the nodes on which that runs.
[[nodiscard]] bool starts_step_inside(const Item& item);

// Instead of the line's own text, first_node_line() is run.
[[nodiscard]] bool is_first_node(const Item& item,
                                 const Rendezvous& rendezvous,
                                 bool has_many_nodes);

// Keeps lines that name the first node right where every node runs them: its name, whatever the
// script asked.
[[nodiscard]] std::string first_node_line(const Item& item);

// Likewise of a line whose variables have other values in the roles of a job; empty: they do not.
[[nodiscard]] std::string address_line(const Item& item, const Rendezvous& rendezvous);

}  // namespace dts::convert
