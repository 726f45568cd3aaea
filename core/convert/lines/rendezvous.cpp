// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/rendezvous.hpp"

#include "core/base/text/text.hpp"
#include "core/plan/torch_variables.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

bool is_port_name(std::string_view lower) {
  if (lower == "port" || lower == "free_port") return true;
  return lower.ends_with("port") &&
         has_one_of(lower, {"master", "rdzv", "rdv", "main", "dist", "ddp", "rendezvous"});
}

bool is_address_name(std::string_view lower) {
  if (has_one_of(lower,
                 {"nodes", "hosts", "list", "array", "names", "count", "num", "file", "endpoint"}))
    return false;
  return has_one_of(lower,
                    {"addr",
                     "ip",
                     "host",
                     "master",
                     "head",
                     "main",
                     "rdzv",
                     "leader",
                     "first",
                     "primary",
                     "node0",
                     "node_0",
                     "node1",
                     "node_1"});
}

bool meets(const Names& a, const Names& b) {
  return std::any_of(
      a.begin(), a.end(), [&b](const std::string& name) { return b.count(name) > 0; });
}

}  // namespace

bool is_given(std::string_view name) {
  return is_one_of(plan::k_torch_variables, name);
}

bool Rendezvous::has(const std::string& name) const {
  return hosts.count(name) > 0 || others.count(name) > 0;
}

bool asks_for_hosts(std::string_view text) {
  return has_one_of(text,
                    {"scontrol show host",
                     "hostname",
                     "NODELIST",
                     "SLURMD_NODENAME",
                     "NODE_IPADDR",
                     "COMM_HOST",
                     "ifconfig",
                     "ip addr",
                     "ip -4",
                     "nslookup",
                     "getent hosts"});
}

Rendezvous rendezvous_of(const std::vector<Item>& items) {
  Rendezvous found;
  Names ports;
  for (const std::string_view name : {"MASTER_ADDR", "MASTER_PORT"})
    found.others.emplace(name, name);
  ports.insert("MASTER_PORT");
  for (const Item& item : items) {
    const bool is_of_hosts = asks_for_hosts(item.source) || meets(item.used, found.hosts);
    const bool is_assignment = item.only_sets() && item.sets.functions.empty();
    for (const auto* all : {&item.sets.variables, &item.sets.arrays})
      for (const std::string& name : *all) {
        const std::string lower = in_lower_case(name);
        if (is_of_hosts) found.hosts.insert(name);
        if (is_assignment && is_port_name(lower)) {
          ports.insert(name);
          found.others.emplace(name, "MASTER_PORT");
        } else if (is_assignment && is_of_hosts && is_address_name(lower) &&
                   !meets(item.used, ports)) {
          found.others.emplace(name, "MASTER_ADDR");
        }
      }
  }
  return found;
}

std::string first_node_line(const Item& item) {
  std::string text;
  for (const std::string& name : item.sets.variables) {
    if (!text.empty()) text += "\n";
    text += (item.sets.exported.count(name) > 0 ? "export " : "") + name +
            "=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)";
  }
  return text;
}

std::string address_line(const Item& item, const Rendezvous& rendezvous) {
  std::string text;
  if (!item.only_sets() || !item.sets.arrays.empty() || !item.sets.functions.empty()) return text;
  for (const std::string& name : item.sets.variables) {
    const auto address = rendezvous.addresses.find(name);
    if (address == rendezvous.addresses.end()) return "";
    if (!text.empty()) text += "\n";
    text += (item.sets.exported.count(name) > 0 ? "export " : "") + name + "=$" + address->second;
  }
  return text;
}

}  // namespace dts::convert
