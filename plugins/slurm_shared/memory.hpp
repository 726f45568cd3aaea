// SPDX-License-Identifier: Apache-2.0
// What a partition and slurm.conf(5) say about jobs' memory. Pure.
#pragma once

#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json_fwd.hpp>

namespace slurm_plugin {

// Adds `max_memory_mib`, `memory` and `cpus_per_gpu` to the partition's reply. Both records have
// the names of slurm.conf: (Def|Max)MemPer(CPU|Node), JobDefaults, SelectTypeParameters. A
// partition without a value of its own has the site's. An empty `site` is not known; then `memory`
// is absent.
void add_memory(nlohmann::json& reply, const Record& partition, const Record& site);

}  // namespace slurm_plugin
