// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_commands/node_record.hpp"

#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/billing.hpp"
#include "plugins/slurm_shared/config_reply.hpp"
#include "plugins/slurm_shared/memory.hpp"
#include "plugins/slurm_shared/node_words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace slurm_plugin {
namespace {

using nlohmann::json;

// "GANG,SUSPEND" -> "suspend".
const char* preemption_of(const std::string& printed) {
  for (const std::string& word : dts::split(dts::in_lower_case(printed), ','))
    for (const char* known : {"suspend", "requeue", "cancel"})
      if (word == known) return known;
  return "none";
}

}  // namespace

std::string node_word(const std::string& printed) {
  std::string text = dts::in_lower_case(printed);
  NodeState state;
  state.silent = text.find('*') != std::string::npos;
  std::erase_if(text, [](unsigned char c) { return std::isalpha(c) == 0 && c != '_' && c != '+'; });
  const auto words = dts::split(text, '+');
  const auto has = [&](const char* flag) { return std::ranges::find(words, flag) != words.end(); };
  if (!words.front().empty()) state.base = words.front();
  state.invalid = has("invalid_reg");
  state.drain = has("drain");
  state.maintenance = has("maintenance") || has("maint");
  state.reserved = has("reserved");
  state.completing = has("completing");
  for (const auto& [flag, sign] : {std::pair{"power_down", '!'},
                                   {"powered_down", '~'},
                                   {"powering_up", '#'},
                                   {"powering_down", '%'}})
    if (has(flag)) state.power = sign;
  state.silent = state.silent || has("not_responding");
  return node_state_word(state);
}

json node_json(const Record& node) {
  const std::string state = node_word(node.text("State"));
  json reply{{"name", node.text("NodeName")},
             {"address", node.text("NodeAddr")},
             {"port", node.number("Port")},
             {"state", state},
             {"away", is_unavailable(state)},
             {"lost", is_lost(state)},
             {"powered_down", is_powered_down(state)}};
  const auto number = [&](const char* name) {
    return static_cast<std::uint32_t>(node.number(name));
  };
  reply["memory_mib"] = memory_for_jobs(number("RealMemory"), number("MemSpecLimit"));
  add_cpus(reply,
           {number("CPUTot"), number("CPUEfctv"), number("Sockets"), number("CoresPerSocket")});
  add_gpus(reply, node.text("Gres"));
  return reply;
}

json partition_json(const Record& partition, const Record& site) {
  json reply{{"name", partition.text("PartitionName")},
             {"is_default", partition.text("Default") == "YES"},
             {"up", partition.text("State") == "UP"},
             {"nodes", partition.text("Nodes")},
             {"max_time_seconds", seconds_of(partition.text("MaxTime"))},
             {"default_time_seconds",
              std::max<std::int64_t>(0, seconds_of(partition.text("DefaultTime")))},
             {"grace_seconds", partition.number("GraceTime")},
             {"preemption", preemption_of(partition.text("PreemptMode"))},
             {"gives_whole_nodes", partition.text("OverSubscribe") == "EXCLUSIVE"},
             {"min_nodes", partition.number("MinNodes")},
             {"max_nodes", partition.number("MaxNodes")},
             {"max_cpus_per_node", partition.number("MaxCPUsPerNode")},
             {"billing", billing_json(partition.text("TRESBillingWeights"))}};
  add_memory(reply, partition, site);
  return reply;
}

json config_json(const Record& config) {
  return reply_of(Configuration{
      .release = config.text("SLURM_VERSION"),
      .cluster_name = config.text("ClusterName"),
      .requeue_exit = config.text("RequeueExit"),
      .requeue_exit_hold = config.text("RequeueExitHold"),
      .proctrack = config.text("ProctrackType"),
      .billing_rule = billing_rule(config.text("PriorityFlags")),
      .kill_wait = config.number("KillWait"),
      .resume_timeout = config.number("ResumeTimeout"),
      .max_array_size = config.number("MaxArraySize"),
      .max_tasks_per_node = config.number("MaxTasksPerNode"),
      .one_task_per_core =
          config.text("SelectTypeParameters").find("ONE_TASK_PER_CORE") != std::string::npos,
      .boot_time = config.time("BOOT_TIME")});
}

}  // namespace slurm_plugin
