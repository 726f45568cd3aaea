// SPDX-License-Identifier: Apache-2.0
// The cluster's configuration as the reply describes it. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace slurm_plugin {

// What is read of it, as slurm.conf(5) spells the values; a text is empty if it is not set.
struct Configuration {
  std::string release{};  // the controller's: "24.11.5"
  std::string cluster_name{};
  std::string requeue_exit{};
  std::string requeue_exit_hold{};
  std::string proctrack{};
  std::string billing_rule{};  // see billing.hpp
  std::int64_t kill_wait = 0;  // seconds
  std::int64_t max_array_size = 0;
  std::int64_t boot_time = 0;  // of slurmctld, in Unix seconds
};

[[nodiscard]] nlohmann::json reply_of(const Configuration& config);

// All settings by their names: `text` is what `scontrol show config` prints, and
// slurm_print_ctl_conf() of libslurm.
[[nodiscard]] nlohmann::json settings_json(std::string_view text);

}  // namespace slurm_plugin
