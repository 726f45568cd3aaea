// SPDX-License-Identifier: Apache-2.0
// The cluster's configuration as the reply describes it. Pure.
#pragma once

#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json_fwd.hpp>

namespace slurm_plugin {

// `config`: what `scontrol show config` prints, and slurm_print_ctl_conf() of libslurm.
[[nodiscard]] nlohmann::json config_json(const Record& config);

}  // namespace slurm_plugin
