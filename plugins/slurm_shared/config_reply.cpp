// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/config_reply.hpp"

#include "plugins/slurm_shared/semantics.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace slurm_plugin {

using nlohmann::json;

json config_json(const Record& config) {
  json claimed = json::array();
  for (const char* setting : {"RequeueExit", "RequeueExitHold"})
    if (const std::string codes = config.text(setting); !codes.empty())
      claimed.push_back({{"setting", setting}, {"codes", codes}});
  json settings = json::object();
  for (const auto& [name, value] : config.fields())
    if (!settings.contains(name)) settings[name] = config.text(name);
  const std::string release = config.text("SLURM_VERSION");
  const std::string proctrack = config.text("ProctrackType");
  // proctrack/cgroup signals only a step's own children, unless cgroup.conf says otherwise; the
  // other plug-ins know every process of the step.
  const bool reach = !proctrack.empty() && proctrack != "proctrack/cgroup";
  return {{"version", release},
          {"cluster_name", config.text("ClusterName")},
          {"claimed_exits", claimed},
          {"signals_reach_programs", reach},
          {"kill_wait_seconds", config.number("KillWait")},
          {"max_array_size", config.number("MaxArraySize")},
          {"restarts_ended_jobs", holds_for(Fact::restarts_ended_jobs, release)},
          {"boot_time", config.time("BOOT_TIME")},
          {"settings", settings}};
}

}  // namespace slurm_plugin
