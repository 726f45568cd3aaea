// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/json.hpp"

#include "core/base/text/json_bytes.hpp"
#include "core/base/text/json_text.hpp"
#include "core/plan/binding/binding.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace dts::plan {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* k_plan_schema = "dtsubmit/plan/1";
constexpr const char* k_placement_schema = "dtsubmit/placement/1";
constexpr std::size_t k_most_bytes = std::size_t{16} << 20;

bool read(const json& object, const char* key, unsigned& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return false;
  const auto number = found->get<std::uint64_t>();
  value = static_cast<unsigned>(number);
  return number <= std::numeric_limits<unsigned>::max();
}

bool read(const json& object, const char* key, std::string& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return false;
  value = found->get<std::string>();
  return true;
}

bool read(const json& object, const char* key, bool& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_boolean()) return false;
  value = found->get<bool>();
  return true;
}

bool read(const json& object, const char* key, std::vector<std::string>& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return false;
  value.clear();
  for (const json& word : *found) {
    if (!word.is_string()) return false;
    value.push_back(word.get<std::string>());
  }
  return true;
}

bool read(const json& object, const char* key, std::vector<unsigned>& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return false;
  value.clear();
  const auto add = [&](const json& item) {
    return item.is_number_unsigned() && item <= std::numeric_limits<unsigned>::max() &&
           (value.push_back(item.get<unsigned>()), true);
  };
  return std::all_of(found->begin(), found->end(), add);
}

bool read_command(const json& object, std::vector<std::string>& command) {
  const auto found = object.find("command");
  if (found == object.end() || !found->is_array() || found->empty()) return false;
  for (const json& word : *found) {
    auto bytes = bytes_from_json(word);
    if (!bytes) return false;
    command.push_back(*std::move(bytes));
  }
  return true;
}

bool read_reasons(const json& object, std::vector<Reason>& reasons) {
  const auto found = object.find("reasons");
  if (found == object.end() || !found->is_array()) return false;
  for (const json& item : *found) {
    Reason& reason = reasons.emplace_back();
    if (!item.is_object() || !read(item, "what", reason.name) || !read(item, "why", reason.why))
      return false;
  }
  return true;
}

// Reads a value that is stored as text.
template <class Parse, class Value>
bool read(const json& object, const char* name, const Parse& parse, Value& value) {
  std::string text;
  if (!read(object, name, text)) return false;
  auto parsed = parse(text);
  if (parsed) value = *std::move(parsed);
  return parsed.has_value();
}

bool read_hosts(const json& object, Plan& plan) {
  const auto found = object.find("hosts");
  if (found == object.end()) return true;
  if (!found->is_array() || !read(object, "ssh", plan.ssh) || plan.ssh.empty()) return false;
  for (const json& item : *found) {
    HostSlots& host = plan.hosts.emplace_back();
    if (!item.is_object() || !read(item, "name", host.host) || !read(item, "ranks", host.slots))
      return false;
  }
  return plan.hosts.size() == plan.nodes;
}

bool read_shared(const json& object, Plan& plan) {
  const json& all = object["shared"];
  SharedNodes& shared = plan.shared.emplace();
  return all.is_object() && read(all, "own", shared.own) && read(all, "cpus", shared.cpus) &&
         read(all, "gpus", shared.gpus) && read(all, "host", shared.host) &&
         read(all, "is_guest", shared.is_guest) && shared.own < shared.gpus.size() &&
         (shared.cpus.empty() || shared.cpus.size() == shared.gpus.size()) &&
         std::find(shared.cpus.begin(), shared.cpus.end(), 0U) == shared.cpus.end();
}

// Without --hosts, every node has the same number of ranks.
bool is_sum_of_ranks(const Plan& plan) {
  std::uint64_t sum = plan.hosts.empty() ? std::uint64_t{plan.nodes} * plan.ntasks_per_node : 0;
  for (const HostSlots& host : plan.hosts) sum += host.slots;
  return plan.world_size > 0 && plan.world_size == sum;
}

}  // namespace

std::string to_json(const Plan& plan) {
  ordered_json reasons = ordered_json::array();
  for (const Reason& reason : plan.reasons)
    reasons.push_back({{"what", reason.what()}, {"why", reason.why}});
  ordered_json value = {{"schema", k_plan_schema},
                        {"job_name", plan.job_name},
                        {"nodes", plan.nodes},
                        {"ntasks_per_node", plan.ntasks_per_node},
                        {"gpus_per_node", plan.gpus_per_node},
                        {"cpus_per_task", plan.cpus_per_task},
                        {"world_size", plan.world_size},
                        {"workers_per_task", plan.workers_per_task},
                        {"launcher", spec::to_string(plan.launcher)},
                        {"frameworks", plan.frameworks},
                        {"bind", plan.bind.text},
                        {"bind_threads", plan.bind_threads},
                        {"signal_margin", plan.signal_margin.count()},
                        {"command", bytes_to_json(plan.command)},
                        {"reasons", std::move(reasons)}};
  if (plan.smt > 0) value["smt"] = plan.smt;
  if (plan.cores_per_rank > 0) value["cores_per_rank"] = plan.cores_per_rank;
  if (plan.spares > 0) value["spares"] = plan.spares;
  if (!plan.exclude.empty()) value["exclude"] = plan.exclude;
  if (!plan.srun_mpi.empty()) value["srun_mpi"] = plan.srun_mpi;
  if (plan.most_srun_ranks > 0) value["most_srun_ranks"] = plan.most_srun_ranks;
  if (plan.component) value["component"] = *plan.component;
  if (plan.hides_gpus) value["hides_gpus"] = true;
  if (plan.gpu_view != "auto") value["gpu_view"] = plan.gpu_view;
  if (plan.shared)
    value["shared"] = {{"own", plan.shared->own},
                       {"cpus", plan.shared->cpus},
                       {"gpus", plan.shared->gpus},
                       {"host", plan.shared->host},
                       {"is_guest", plan.shared->is_guest}};
  if (!plan.hosts.empty()) {
    ordered_json hosts = ordered_json::array();
    for (const HostSlots& host : plan.hosts)
      hosts.push_back({{"name", host.host}, {"ranks", host.slots}});
    value["hosts"] = std::move(hosts);
    value["ssh"] = plan.ssh;
  }
  return json_text(value);
}

namespace {

// A member of plan.json; the function returns false for a wrong type or value.
struct Member {
  const char* key;
  bool (*read)(const json& object, Plan& plan);
  bool optional = false;
};

bool read_margin(const json& object, Plan& plan) {
  unsigned seconds = 0;
  if (!read(object, "signal_margin", seconds)) return false;
  plan.signal_margin = std::chrono::seconds(seconds);
  return true;
}

#define DTS_MEMBER(name)                                                                 \
  {                                                                                      \
#name, [](const json& object, Plan& plan) { return read(object, #name, plan.name); } \
  }
#define DTS_OPTIONAL(name)                                                                     \
  {                                                                                            \
#name, [](const json& object, Plan& plan) { return read(object, #name, plan.name); }, true \
  }

constexpr Member k_members[] = {
    DTS_MEMBER(job_name),
    DTS_MEMBER(nodes),
    DTS_MEMBER(ntasks_per_node),
    DTS_MEMBER(gpus_per_node),
    DTS_MEMBER(cpus_per_task),
    DTS_MEMBER(world_size),
    DTS_MEMBER(workers_per_task),
    {"launcher",
     [](const json& object, Plan& plan) {
       return read(object, "launcher", spec::launcher_from, plan.launcher);
     }},
    DTS_MEMBER(frameworks),
    DTS_MEMBER(bind_threads),
    {"signal_margin", read_margin},
    {"command", [](const json& object, Plan& plan) { return read_command(object, plan.command); }},
    {"reasons", [](const json& object, Plan& plan) { return read_reasons(object, plan.reasons); }},
    {"bind",
     [](const json& object, Plan& plan) {
       return read(object, "bind", spec::parse_bind, plan.bind);
     },
     true},
    DTS_OPTIONAL(smt),
    DTS_OPTIONAL(cores_per_rank),
    DTS_OPTIONAL(spares),
    DTS_OPTIONAL(exclude),
    DTS_OPTIONAL(srun_mpi),
    DTS_OPTIONAL(most_srun_ranks),
    {"component",
     [](const json& object, Plan& plan) {
       return read(object, "component", plan.component.emplace());
     },
     true},
    DTS_OPTIONAL(hides_gpus),
    DTS_OPTIONAL(gpu_view),
    {"shared", read_shared, true},
    {"hosts", read_hosts}};

ordered_json links_to_json(const std::vector<RankLink>& links) {
  auto list = ordered_json::array();
  for (const RankLink& link : links)
    list.push_back({{"local_rank", link.local_rank}, {"weight", link.weight}});
  return list;
}

}  // namespace

Result<Plan> plan_from_json(std::string_view text) {
  const auto bad = [](std::string_view what) {
    return fail(
        Errc::invalid, fmt::format("the plan is damaged: {}", what), "submit the job again");
  };
  if (text.size() > k_most_bytes) return bad("too large");
  const json value = json::parse(text, nullptr, false);
  if (!value.is_object()) return bad("not a JSON object");
  std::string schema;
  if (!read(value, "schema", schema) || schema != k_plan_schema)
    return bad(fmt::format("its schema is not {}", k_plan_schema));
  Plan plan;
  for (const Member& member : k_members) {
    if (member.optional && !value.contains(member.key)) continue;
    if (!member.read(value, plan)) return bad(member.key);
  }
  if (!is_sum_of_ranks(plan)) return bad("world_size is not the ranks of all nodes");
  return plan;
}

std::string to_json(const std::vector<Placement>& placements) {
  std::string text = fmt::format("{{\n  \"schema\": \"{}\",\n  \"ranks\": [", k_placement_schema);
  for (const Placement& p : placements) {
    text += &p == placements.data() ? "\n    " : ",\n    ";
    text += json_line(ordered_json{{"rank", p.rank},
                                   {"local_rank", p.local_rank},
                                   {"local_world_size", p.local_world_size},
                                   {"node_rank", p.node_rank},
                                   {"node", p.node},
                                   {"cores", p.cores},
                                   {"home_cores", p.home_cores},
                                   {"cpus", p.cpus},
                                   {"gpus", p.gpus},
                                   {"nics", p.nics},
                                   {"memory", to_text(p.memory)},
                                   {"links", links_to_json(p.links)}});
  }
  return text + "\n  ]\n}\n";
}

}  // namespace dts::plan
