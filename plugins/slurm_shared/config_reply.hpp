// SPDX-License-Identifier: Apache-2.0
// Converts the cluster's configuration to the reply. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace slurm_plugin {

// The settings that are used, as slurm.conf(5) spells their values; unset texts are empty.
struct Configuration {
  std::string release{};  // the controller's: "24.11.5"
  std::string cluster_name{};
  std::string requeue_exit{};
  std::string requeue_exit_hold{};
  std::string proctrack{};
  std::string billing_rule{};  // see billing.hpp
  std::int64_t kill_wait = 0;  // seconds
  // Seconds; a site that powers no nodes down has one, too.
  std::int64_t resume_timeout = 0;
  std::int64_t max_array_size = 0;
  std::int64_t max_tasks_per_node = 0;  // of a step
  bool one_task_per_core = false;       // SelectTypeParameters=CR_ONE_TASK_PER_CORE
  std::int64_t boot_time = 0;           // of slurmctld, in Unix seconds
};

[[nodiscard]] nlohmann::json reply_of(const Configuration& config);

// Whether a setting such as CliFilterPlugins ("lua,cli_filter/syslog") lists a plug-in other than
// these.
[[nodiscard]] bool lists_other_plugins(std::string_view setting,
                                       std::initializer_list<std::string_view> than);

// Whether plug-ins of this CliFilterPlugins may change or refuse jobs.
[[nodiscard]] bool filters_jobs(std::string_view setting);

// All settings by name. `text` is the output of `scontrol show config`, or of libslurm's
// slurm_print_ctl_conf().
[[nodiscard]] nlohmann::json settings_json(std::string_view text);

}  // namespace slurm_plugin
