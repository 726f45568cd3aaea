// SPDX-License-Identifier: Apache-2.0
// Passes scheduler calls to a plug-in as JSON, and the replies back. dtsubmit-plugins(7) describes
// the JSON.
#include "core/plugin/scheduler.hpp"

#include "core/base/text/json_bytes.hpp"
#include "core/plugin/host.hpp"
#include "core/sched/order.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>
#include <utility>
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
    } else {
      if (found->is_number_integer()) into = found->template get<T>();
    }
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

sched::Phrases phrases_from(const json& object) {
  sched::Phrases phrases;
  const Reader reader(object);
  reader.read("name", phrases.name);
  reader.read("cancel", phrases.cancel);
  reader.read("accounting", phrases.accounting);
  reader.read("forgets", phrases.forgets);
  reader.read("nodes_away", phrases.nodes_away);
  return phrases;
}

void put(json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

json minutes_of(std::chrono::seconds limit) {
  if (limit == std::chrono::seconds::max()) return "unlimited";
  return std::chrono::ceil<std::chrono::minutes>(limit).count();
}

json to_json(const sched::Submission& job);

json components_of(const sched::Submission& job) {
  json list = json::array();
  for (const sched::Submission& component : job.components) list.push_back(to_json(component));
  return list;
}

json to_json(const sched::Submission& job) {
  json object = {{"append_output", job.append_output},
                 {"nodes", job.nodes},
                 {"ntasks_per_node", job.ntasks_per_node}};
  put(object, "script", job.script);
  if (!job.environment.empty()) object["environment"] = job.environment;
  if (!job.components.empty()) object["components"] = components_of(job);
  put(object, "script_path", job.script_path);
  put(object, "work_folder", job.work_folder);
  put(object, "job_name", job.job_name);
  put(object, "partition", job.partition);
  auto options = job.options;
  options.insert(job.once.begin(), job.once.end());
  if (!options.empty()) object["options"] = options;
  put(object, "exclude_nodes", job.exclude_nodes);
  put(object, "output", job.output);
  if (job.cpus_per_task) object["cpus_per_task"] = *job.cpus_per_task;
  if (job.gpus_per_node > 0) object["gpus_per_node"] = job.gpus_per_node;
  put(object, "gpu_type", job.gpu_type);
  if (job.memory_mib) object["memory_mib"] = *job.memory_mib;
  if (job.time_limit) object["time_limit_minutes"] = minutes_of(*job.time_limit);
  if (job.requeue) object["requeue"] = *job.requeue;
  if (job.no_kill) object["no_kill"] = true;
  if (job.warn_signal > 0) {
    object["warn_signal"] = job.warn_signal;
    object["warn_seconds"] = job.warn_seconds;
  }
  return object;
}

sched::JobInfo job_from(const json& object) {
  sched::JobInfo job;
  const Reader reader(object);
  reader.read("id", job.id);
  reader.read("array", job.array);
  reader.read("tasks", job.tasks);
  job.state = sched::job_state_of(reader.text("state"));
  reader.read("completing", job.completing);
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
  reader.read("preempt_time", job.preempt_time);
  reader.read("exit_code", job.exit_code);
  reader.read("exit_signal", job.exit_signal);
  reader.read("files_unusable", job.files_unusable);
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
  reader.read("cpus", node.cpus);
  reader.read("gpus", node.gpus);
  reader.read("memory_mib", node.memory_mib);
  return node;
}

sched::PartitionInfo partition_from(const json& object) {
  sched::PartitionInfo partition;
  const Reader reader(object);
  reader.read("name", partition.name);
  reader.read("is_default", partition.is_default);
  reader.read("up", partition.up);
  reader.read("nodes", partition.nodes);
  reader.read("max_time_seconds", partition.max_time_seconds);
  reader.read("grace_seconds", partition.grace_seconds);
  partition.preemption = sched::preemption_of(reader.text("preemption"));
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
  reader.read("max_array_size", config.max_array_size);
  reader.read("boot_time", config.boot_time);
  return config;
}

// Paths and environment variables may not be UTF-8.
json with_hex(const json& value) {
  if (value.is_string()) return bytes_to_json(value.get_ref<const std::string&>());
  json copy = value;
  if (copy.is_structured())
    for (json& item : copy) item = with_hex(item);
  return copy;
}

std::string dump(const json& request) {
  return with_hex(request).dump();
}

class PluginScheduler final : public sched::Scheduler, public sched::JobSearch {
 public:
  PluginScheduler(std::shared_ptr<const Plugin> plugin, sched::Phrases phrases)
      : plugin_(std::move(plugin)), phrases_(std::move(phrases)) {}

  [[nodiscard]] sched::Phrases phrases() const override { return phrases_; }

  Result<sched::JobId> submit(const sched::Submission& submission) override {
    DTS_ASSIGN(const json reply, call("submit", to_json(submission)));
    sched::JobId id;
    Reader(reply).read("id", id);
    if (id.empty()) return fail(Errc::internal, "the scheduler plug-in gave no job id");
    return id;
  }

  Result<sched::JobInfo> job(sched::JobId id) override {
    DTS_ASSIGN(const json reply, call("job", {{"id", id.text()}}));
    return job_from(reply);
  }

  Result<std::vector<sched::JobInfo>> find(const std::string& script_path) override {
    return list("find", job_from, {{"command", script_path}});
  }

  Result<std::vector<sched::NodeInfo>> nodes() override { return list("nodes", node_from); }

  Result<std::vector<sched::PartitionInfo>> partitions() override {
    return list("partitions", partition_from);
  }

  Result<sched::ConfigInfo> config() override {
    DTS_ASSIGN(const json reply, call("config", json::object()));
    return config_from(reply);
  }

  Result<void> cancel(sched::JobId id) override { return act("cancel", {{"id", id.text()}}); }

  Result<void> requeue(sched::JobId id) override { return act("requeue", {{"id", id.text()}}); }

  Result<void> exclude(sched::JobId id, const std::string& nodes) override {
    return act("exclude", {{"id", id.text()}, {"nodes", nodes}});
  }

  Result<void> signal_batch(sched::JobId id, int signal) override {
    return act("signal_batch", {{"id", id.text()}, {"signal", signal}});
  }

 private:
  [[nodiscard]] Result<json> call(const char* operation, const json& request) const {
    DTS_ASSIGN(const std::string reply, plugin_->call(operation, dump(request)));
    return json::parse(reply, nullptr, false);
  }

  [[nodiscard]] Result<void> act(const char* operation, const json& request) const {
    DTS_TRY(call(operation, request));
    return {};
  }

  template <class T>
  [[nodiscard]] Result<std::vector<T>> list(const char* operation,
                                            T (*from)(const json&),
                                            const json& request = json::object()) const {
    DTS_ASSIGN(const json reply, call(operation, request));
    std::vector<T> items;
    for (const json& item : reply) items.push_back(from(item));
    return items;
  }

  std::shared_ptr<const Plugin> plugin_;
  sched::Phrases phrases_;
};

}  // namespace

std::string scheduler_name() {
  const char* name = std::getenv("DTSUBMIT_SCHEDULER");
  return name != nullptr && *name != '\0' ? name : "slurm";
}

Result<std::unique_ptr<sched::Scheduler>> load_scheduler(const std::string& name, bool probe) {
  auto plugin = load_plugin(name);
  if (!plugin && plugin.error().code == Errc::not_found)
    plugin.error().code = Errc::unreachable;  // without a way to the scheduler there is none
  if (!plugin) return tl::unexpected<Error>(std::move(plugin).error());
  DTS_ASSIGN(const std::string opened, (*plugin)->call("open", json{{"probe", probe}}.dump()));
  return std::make_unique<PluginScheduler>(*std::move(plugin),
                                           phrases_from(json::parse(opened, nullptr, false)));
}

}  // namespace dts::plugin
