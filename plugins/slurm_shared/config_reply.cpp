// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/config_reply.hpp"

#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/record.hpp"
#include "plugins/slurm_shared/semantics.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace slurm_plugin {

using nlohmann::json;

json reply_of(const Configuration& config) {
  json claimed = json::array();
  for (const auto& [setting, codes] : {std::pair{"RequeueExit", config.requeue_exit},
                                       {"RequeueExitHold", config.requeue_exit_hold}})
    if (!codes.empty()) claimed.push_back({{"setting", setting}, {"codes", codes}});
  // proctrack/cgroup signals only a step's own children, unless cgroup.conf says otherwise; other
  // plug-ins know every process of the step.
  const bool reach = !config.proctrack.empty() && config.proctrack != "proctrack/cgroup";
  return {{"version", config.release},
          {"cluster_name", config.cluster_name},
          {"claimed_exits", claimed},
          {"signals_reach_programs", reach},
          {"kill_wait_seconds", config.kill_wait},
          {"power_up_seconds", config.resume_timeout},
          {"max_array_size", config.max_array_size},
          {"max_step_ranks_per_node", config.max_tasks_per_node},
          {"one_rank_per_core", config.one_task_per_core},
          {"billing_rule", config.billing_rule},
          {"restarts_ended_jobs", holds_for(Fact::restarts_ended_jobs, config.release)},
          {"boot_time", config.boot_time}};
}

bool lists_other_plugins(std::string_view setting, std::initializer_list<std::string_view> than) {
  for (const std::string& text : dts::split(setting, ',')) {
    std::string_view name = dts::trim(text);
    name.remove_prefix(name.find('/') == std::string_view::npos ? 0 : name.find('/') + 1);
    if (!name.empty() && name != "(null)" && std::ranges::find(than, name) == than.end())
      return true;
  }
  return false;
}

bool filters_jobs(std::string_view setting) {
  return lists_other_plugins(setting, {"none", "syslog"});
}

json settings_json(std::string_view text) {
  const Record config = parse_config(text);
  json settings = json::object();
  for (const auto& [name, value] : config.fields())
    if (!settings.contains(name)) settings[name] = config.text(name);
  return settings;
}

}  // namespace slurm_plugin
