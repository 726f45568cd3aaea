// SPDX-License-Identifier: Apache-2.0
// Requests to a scheduler plug-in.
#include "core/base/text/json_bytes.hpp"
#include "core/plugin/scheduler_json.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>

namespace dts::plugin {

using nlohmann::json;

namespace {

void put(json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

json minutes_of(std::chrono::seconds limit) {
  if (limit == std::chrono::seconds::max()) return "unlimited";
  return std::chrono::ceil<std::chrono::minutes>(limit).count();
}

json components_of(const sched::Submission& job) {
  json list = json::array();
  for (const sched::Submission& component : job.components) list.push_back(to_json(component));
  return list;
}

// Paths and environment variables need not be UTF-8.
json with_hex(const json& value) {
  if (value.is_string()) return bytes_to_json(value.get_ref<const std::string&>());
  json copy = value;
  if (copy.is_structured())
    for (json& item : copy) item = with_hex(item);
  return copy;
}

}  // namespace

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
  if (job.continues_after) object["continues_after"] = *job.continues_after;
  if (job.warn_signal > 0) {
    object["warn_signal"] = job.warn_signal;
    object["warn_seconds"] = job.warn_seconds;
  }
  return object;
}

std::string dump(const json& request) {
  return with_hex(request).dump();
}

}  // namespace dts::plugin
