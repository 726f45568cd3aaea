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
  Names hosts;  // all variables that are made of the names of the job's nodes

  [[nodiscard]] bool has(const std::string& name) const;
};

[[nodiscard]] Rendezvous rendezvous_of(const std::vector<Item>& items);

// Variables that every rank gets from dtsubmit, so that a script's own values are overridden.
[[nodiscard]] bool is_given(std::string_view name);

// The text looks up names or addresses of hosts.
[[nodiscard]] bool asks_for_hosts(std::string_view text);

// Keeps lines that name the first node right where every node runs them: its name, whatever the
// script asked.
[[nodiscard]] std::string first_node_line(const Item& item);

}  // namespace dts::convert
