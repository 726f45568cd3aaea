// SPDX-License-Identifier: Apache-2.0
// A partition as libslurm reports it.
#pragma once

#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json_fwd.hpp>
#include <slurm/slurm.h>

namespace slurm_plugin {

// libslurm changes its own members of `info` in it. `site` is the configuration, which has the
// defaults of partitions; empty: not known.
[[nodiscard]] nlohmann::json partition_reply(partition_info_t& info, const Record& site);

}  // namespace slurm_plugin
