// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/scheduler_json.hpp"

#include "core/sched/billing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace dts::plugin {
namespace {

using nlohmann::json;

// The object in a reply; a member that is missing or of another type reads as the default of `T`.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  template <class T>
  void read(const char* key, T& into) const {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    if constexpr (std::is_same_v<T, bool>) {
      if (found->is_boolean()) into = found->template get<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (found->is_string()) into = found->template get<T>();
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      if (!found->is_array()) return;
      for (const json& one : *found) into.push_back(one.is_string() ? one.get<std::string>() : "");
    } else if constexpr (std::is_same_v<T, sched::JobId>) {
      if (found->is_string())
        into = sched::JobId::parse(found->get_ref<const std::string&>()).value_or(sched::JobId());
    } else if constexpr (std::is_same_v<T, double>) {
      if (found->is_number()) into = found->template get<T>();
    } else {
      if (found->is_number_integer()) into = found->template get<T>();
    }
  }

  template <class T>
  void read(const char* key, std::map<std::string, T>& into) const {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_object()) return;
    for (const auto& [name, value] : found->items()) Reader(*found).read(name.c_str(), into[name]);
  }

  [[nodiscard]] std::string text(const char* key) const {
    std::string text;
    read(key, text);
    return text;
  }

 private:
  const json& object_;
};

sched::Wait wait_of(const std::string& word) {
  if (word == "nodes") return sched::Wait::nodes;
  return word == "time" ? sched::Wait::time : sched::Wait::other;
}

BillingWeights weights_from(const json& object) {
  BillingWeights weights;
  const Reader reader(object);
  reader.read("node", weights.node);
  reader.read("cpu", weights.processor);
  reader.read("memory_mib", weights.memory_mib);
  reader.read("gpu", weights.gpu);
  reader.read("gpu_types", weights.gpu_types);
  reader.read("others", weights.others);
  return weights;
}

}  // namespace

sched::Phrases phrases_from(const json& object) {
  sched::Phrases phrases;
  const Reader reader(object);
  reader.read("name", phrases.name);
  reader.read("cancel", phrases.cancel);
  reader.read("accounting", phrases.accounting);
  reader.read("forgets", phrases.forgets);
  reader.read("nodes_away", phrases.nodes_away);
  reader.read("forecast", phrases.forecast);
  reader.read("billing", phrases.billing);
  return phrases;
}

sched::Expected expected_from(const json& object) {
  sched::Expected expected;
  const Reader reader(object);
  reader.read("start_time", expected.start_time);
  reader.read("nodes", expected.nodes);
  reader.read("processors", expected.processors);
  reader.read("partition", expected.partition);
  std::vector<std::string> preempted;
  reader.read("preempted", preempted);
  for (const std::string& id : preempted)
    if (const auto job = sched::JobId::parse(id)) expected.preempted.push_back(*job);
  return expected;
}

sched::QueuedJob queued_from(const json& object) {
  sched::QueuedJob job;
  const Reader reader(object);
  reader.read("id", job.id);
  reader.read("waits", job.waits);
  reader.read("partition", job.partition);
  reader.read("nodes", job.nodes);
  reader.read("end_time", job.end_time);
  return job;
}

sched::JobInfo job_from(const json& object) {
  sched::JobInfo job;
  const Reader reader(object);
  reader.read("id", job.id);
  reader.read("array", job.array);
  reader.read("tasks", job.tasks);
  job.state = sched::job_state_of(reader.text("state"));
  reader.read("completing", job.completing);
  reader.read("preparing", job.preparing);
  reader.read("reason", job.reason);
  reader.read("explanation", job.explanation);
  reader.read("advice", job.advice);
  job.wait = wait_of(reader.text("waits_for"));
  reader.read("description", job.description);
  reader.read("partition", job.partition);
  reader.read("dependency", job.dependency);
  reader.read("nodes", job.nodes);
  reader.read("cpus", job.cpus);
  reader.read("exclude_nodes", job.exclude_nodes);
  reader.read("restart_count", job.restart_count);
  reader.read("requeue", job.requeue);
  reader.read("eligible_time", job.eligible_time);
  reader.read("start_time", job.start_time);
  reader.read("end_time", job.end_time);
  reader.read("unlimited", job.unlimited);
  reader.read("ends_unwarned", job.ends_unwarned);
  reader.read("end_unsure", job.end_unsure);
  reader.read("preempt_time", job.preempt_time);
  reader.read("exit_code", job.exit_code);
  reader.read("exit_signal", job.exit_signal);
  reader.read("accounted", job.accounted);
  reader.read("files_unusable", job.files_unusable);
  if (const auto found = object.find("command"); found != object.end())
    job.script_path = bytes_from_json(*found);
  return job;
}

sched::NodeInfo node_from(const json& object) {
  sched::NodeInfo node;
  const Reader reader(object);
  reader.read("name", node.name);
  reader.read("address", node.address);
  reader.read("port", node.port);
  reader.read("state", node.state);
  reader.read("away", node.away);
  reader.read("lost", node.lost);
  reader.read("powered_down", node.powered_down);
  reader.read("cpus", node.cpus);
  reader.read("reserved_cpus", node.reserved_cpus);
  node.reserved_cpus = std::min(node.reserved_cpus, node.cpus);
  reader.read("cpus_per_core", node.cpus_per_core);
  node.cpus_per_core = std::max(node.cpus_per_core, 1U);
  reader.read("gpus", node.gpus);
  reader.read("gpu_types", node.gpu_types);
  reader.read("memory_mib", node.memory_mib);
  return node;
}

MemoryRules memory_from(const json& object) {
  MemoryRules rules;
  const Reader reader(object);
  reader.read("default_mib", rules.default_mib);
  reader.read("default_per_cpu_mib", rules.default_per_cpu_mib);
  reader.read("default_per_gpu_mib", rules.default_per_gpu_mib);
  reader.read("max_per_cpu_mib", rules.max_per_cpu_mib);
  reader.read("is_shared_out", rules.is_shared_out);
  return rules;
}

sched::PartitionInfo partition_from(const json& object) {
  sched::PartitionInfo partition;
  const Reader reader(object);
  reader.read("name", partition.name);
  reader.read("is_default", partition.is_default);
  reader.read("up", partition.up);
  reader.read("nodes", partition.nodes);
  reader.read("max_time_seconds", partition.max_time_seconds);
  reader.read("default_time_seconds", partition.default_time_seconds);
  reader.read("grace_seconds", partition.grace_seconds);
  partition.preemption = sched::preemption_of(reader.text("preemption"));
  reader.read("gives_whole_nodes", partition.gives_whole_nodes);
  reader.read("min_nodes", partition.min_nodes);
  reader.read("max_nodes", partition.max_nodes);
  reader.read("max_cpus_per_node", partition.max_cpus_per_node);
  reader.read("max_memory_mib", partition.max_memory_mib);
  if (const auto found = object.find("memory"); found != object.end() && found->is_object())
    partition.memory = memory_from(*found);
  reader.read("cpus_per_gpu", partition.cpus_per_gpu);
  if (const auto found = object.find("billing"); found != object.end() && found->is_object())
    partition.billing = weights_from(*found);
  return partition;
}

sched::ConfigInfo config_from(const json& object) {
  sched::ConfigInfo config;
  const Reader reader(object);
  reader.read("version", config.version);
  reader.read("cluster_name", config.cluster_name);
  if (const auto found = object.find("claimed_exits"); found != object.end())
    for (const json& claim : *found)
      config.claimed_exits.push_back({Reader(claim).text("setting"), Reader(claim).text("codes")});
  reader.read("signals_reach_programs", config.signals_reach_programs);
  reader.read("kill_wait_seconds", config.kill_wait_seconds);
  reader.read("power_up_seconds", config.power_up_seconds);
  reader.read("max_array_size", config.max_array_size);
  reader.read("max_step_ranks_per_node", config.max_step_ranks_per_node);
  reader.read("one_rank_per_core", config.one_rank_per_core);
  reader.read("restarts_ended_jobs", config.restarts_ended_jobs);
  reader.read("boot_time", config.boot_time);
  config.billing_rule = sched::billing_rule_of(reader.text("billing_rule"));
  return config;
}

sched::QosInfo qos_from(const json& object) {
  sched::QosInfo qos;
  const Reader reader(object);
  reader.read("name", qos.name);
  reader.read("is_default", qos.is_default);
  reader.read("preempts", qos.preempts);
  if (const std::string word = reader.text("preemption"); !word.empty())
    qos.preemption = sched::preemption_of(word);
  reader.read("grace_seconds", qos.grace_seconds);
  if (std::int64_t exempt = -1; reader.read("exempt_seconds", exempt), exempt >= 0)
    qos.exempt_seconds = exempt;
  reader.read("max_time_seconds", qos.max_time_seconds);
  reader.read("refuses_excess", qos.refuses_excess);
  return qos;
}

std::optional<JobLimit> limit_from(const json& object) {
  constexpr std::array k_words{
      "every_job", "nodes", "cpus", "memory", "gpus", "time", "elements", "billing"};
  const Reader reader(object);
  const auto word = std::find(k_words.begin(), k_words.end(), reader.text("of"));
  if (word == k_words.end()) return std::nullopt;  // of a later release
  JobLimit limit;
  limit.of = static_cast<JobLimit::Of>(word - k_words.begin());
  reader.read("gpu_type", limit.gpu_type);
  reader.read("per_node", limit.is_per_node);
  reader.read("least", limit.is_least);
  reader.read("with_time", limit.is_with_time);
  reader.read("amount", limit.amount);
  reader.read("name", limit.name);
  reader.read("place", limit.place);
  reader.read("instead", limit.instead);
  return limit;
}

sched::SiteLimits limits_from(const json& object) {
  sched::SiteLimits limits;
  if (!object.is_object()) return limits;
  const Reader reader(object);
  reader.read("may_change", limits.may_change);
  reader.read("lifts_time", limits.lifts_time);
  reader.read("lifts_min_nodes", limits.lifts_min_nodes);
  reader.read("lifts_max_nodes", limits.lifts_max_nodes);
  const auto all = object.find("partitions");
  if (all == object.end()) return limits;
  for (const json& one : *all)
    if (const auto found = one.find("limits"); found != one.end())
      for (const json& item : *found)
        if (auto limit = limit_from(item))
          limits.of_partition[text_in(one, "name")].push_back(*std::move(limit));
  return limits;
}

sched::Settings settings_from(const json& object) {
  sched::Settings settings;
  if (!object.is_object()) return settings;
  for (const auto& [name, value] : object.items())
    if (value.is_string()) settings[name] = value.get<std::string>();
  return settings;
}

std::string text_in(const json& object, const char* key) {
  return Reader(object).text(key);
}

}  // namespace dts::plugin
