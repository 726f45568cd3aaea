// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/rendezvous.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/steps_beside.hpp"
#include "core/convert/words/once.hpp"
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
  for (const std::string_view other : {"report", "support", "export", "import", "transport"})
    if (lower.ends_with(other)) return false;
  return lower.ends_with("port") &&
         has_one_of(lower, {"master", "rdzv", "rdv", "main", "dist", "ddp", "rendezvous"});
}

// A port that is found when the job runs; a number may be that of another service.
bool is_found_port(std::string_view lower, std::string_view source) {
  return lower.ends_with("port") && lower.find("head_node") != lower.npos &&
         has_one_of(source, {"$(", "`", "RANDOM"});
}

bool is_address_name(std::string_view lower) {
  if (has_one_of(
          lower,
          {"nodes", "hosts", "list", "array", "names", "count", "num", "file", "endpoint"}) ||
      lower.ends_with("port"))
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

// HOST:PORT is no address alone.
bool joins_by_colon(const Item& item) {
  const shell::Command* command = simple_command(*item.statement);
  if (command == nullptr) return false;
  for (const shell::Assignment& one : command->assignments)
    for (const shell::Piece& piece : one.value.pieces)
      if (piece.kind == shell::Piece::Kind::literal && piece.text.find(':') != std::string::npos)
        return true;
  return false;
}

// $(srun hostname -i), of which nothing takes one line: addresses of all nodes.
bool asks_all_nodes(const Item& item, const lint::Job& job) {
  return !has_one_of(item.source, {"head", "tail", "awk", "sed", "cut"}) &&
         std::any_of(item.inside.begin(), item.inside.end(), [&job](const lint::Run* run) {
           return run->launch.launcher == lint::Launcher::srun &&
                  run->launch.option("nodelist") == nullptr &&
                  run->launch.option("relative") == nullptr &&
                  tasks_of(run->launch, job) != StepTasks::one;
         });
}

bool reads_lines(const std::string& verb) {
  return verb == "read" || verb == "mapfile" || verb == "readarray";
}

// Adds the variables that get names of hosts in the item: by their own values, as what a loop goes
// through, or from lines that are read.
void add_hosts(const Item& item, Names& hosts) {
  const auto is_of_hosts = [&](const Span& span) {
    const std::string text =
        item.source.substr(span.begin - item.span().begin, span.end - span.begin);
    return asks_for_hosts(text) || meets(used_names(text), hosts);
  };
  const auto add = [&](const std::string& name) {
    if (item.sets.variables.count(name) + item.sets.arrays.count(name) > 0) hosts.insert(name);
  };
  const bool is_any = asks_for_hosts(item.source) || meets(item.used, hosts);
  if (!is_any) return;
  each_command(*item.statement, [&](const shell::Command& command) {
    for (const shell::Assignment& one : command.assignments)
      if (is_of_hosts(one.span)) add(one.name);
    if (command.kind == shell::Command::Kind::each &&
        std::any_of(command.words.begin(), command.words.end(), [&](const shell::Word& word) {
          return is_of_hosts(word.span);
        }))
      add(command.name);
    if (!reads_lines(first_word(command))) return;
    for (const shell::Word& word : command.words) add(literal_of(word));
  });
}

Names exported_by(const std::vector<Item>& items) {
  Names exported;
  for (const Item& item : items)
    for (const std::string& name : item.sets.exported)
      if (!is_given(name)) exported.insert(name);
  return exported;
}

// The item hands what it uses on to others than the ranks' launcher: in a variable of the
// environment, in a file, or in the job's comment.
bool hands_on(const Item& item, const Names& exported) {
  return meets(item.sets.variables, exported) ||
         (item.mains.empty() && (writes_file(item) || updates_job(item)));
}

// A server whose port an exported address or a file has: ray start --port=$port, with export
// ip_head=$ip:$port. Not of what each of several nodes would compute anew.
void keep_ports_of_others(const std::vector<Item>& items, const lint::Job& job, Rendezvous& found) {
  const Names exported = exported_by(items);
  Names anew;
  for (const Item& item : items)
    if (job.nodes.value_or(1) > 1 && !computed_anew(item.source).empty())
      anew.insert(item.sets.variables.begin(), item.sets.variables.end());
  for (const Item& item : items) {
    if (!hands_on(item, exported)) continue;
    Names names = item.used;
    names.insert(item.sets.variables.begin(), item.sets.variables.end());
    for (const std::string& name : names) {
      const auto other = found.others.find(name);
      const bool is_port = other != found.others.end() && other->second == "MASTER_PORT";
      if (is_port && !is_given(name) && anew.count(name) == 0) found.others.erase(other);
    }
  }
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

Rendezvous rendezvous_of(const std::vector<Item>& items, const lint::Job& job) {
  Rendezvous found;
  Names ports;
  for (const std::string_view name : {"MASTER_ADDR", "MASTER_PORT"})
    found.others.emplace(name, name);
  ports.insert("MASTER_PORT");
  for (const Item& item : items) {
    add_hosts(item, found.hosts);
    if (!item.only_sets() || !item.sets.functions.empty()) continue;
    const bool has_port = joins_by_colon(item);
    const bool names_node = has_one_of(item.source, {"$HOSTNAME", "${HOSTNAME"});
    for (const auto* all : {&item.sets.variables, &item.sets.arrays})
      for (const std::string& name : *all) {
        const std::string lower = in_lower_case(name);
        if (has_port && found.hosts.count(name) > 0) {
          ports.insert(name);
        } else if (is_port_name(lower) || is_found_port(lower, item.source)) {
          ports.insert(name);
          found.others.emplace(name, "MASTER_PORT");
        } else if ((found.hosts.count(name) > 0 || names_node) && is_address_name(lower) &&
                   !meets(item.used, ports) && !asks_all_nodes(item, job)) {
          found.others.emplace(name, "MASTER_ADDR");
        }
      }
  }
  keep_ports_of_others(items, job, found);
  return found;
}

bool starts_step_inside(const Item& item) {
  bool starts = false;
  if (!item.only_sets()) return false;
  each_command(*item.statement, [&starts](const shell::Command& command) {
    const std::string verb = first_word(command);
    starts = starts || verb == "srun" || verb == "mpirun" || verb == "mpiexec";
  });
  return starts;
}

bool is_first_node(const Item& item, const Rendezvous& rendezvous, bool has_many_nodes) {
  if (!has_many_nodes && !starts_step_inside(item)) return false;
  const Names& names = item.sets.variables;
  return item.only_sets() && item.sets.arrays.empty() && item.sets.functions.empty() &&
         std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           const auto other = rendezvous.others.find(name);
           return other != rendezvous.others.end() && other->second == "MASTER_ADDR";
         });
}

bool asks_for_address(const Item& item) {
  return has_one_of(item.source,
                    {"hostname -i",
                     "hostname -I",
                     "hostname --ip",
                     "hostname --all-ip",
                     "ip addr",
                     "ip a ",
                     "ip -4",
                     "ip route",
                     "ifconfig",
                     "getent",
                     "nslookup",
                     "dig ",
                     "gethostbyname"});
}

std::string first_node_line(const Item& item) {
  const std::string name = "$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)";
  const std::string value = asks_for_address(item) ? address_of(name) : name;
  std::string text;
  for (const std::string& one : item.sets.variables) {
    if (!text.empty()) text += "\n";
    text += (item.sets.exported.count(one) > 0 ? "export " : "") + one + "=" + value;
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
