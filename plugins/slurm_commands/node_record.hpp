// SPDX-License-Identifier: Apache-2.0
// Converts nodes, partitions and the configuration from what scontrol prints to replies.
// Pure.
#pragma once

#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace slurm_plugin {

// "IDLE+DRAIN", "DOWN*", "MIXED+PLANNED" -> what sinfo would print: "drained", "down*", "mixed".
[[nodiscard]] std::string node_word(const std::string& printed);

[[nodiscard]] nlohmann::json node_json(const Record& node);
// `site` is the configuration, which has the defaults of partitions; empty: not known.
[[nodiscard]] nlohmann::json partition_json(const Record& partition, const Record& site);
[[nodiscard]] nlohmann::json config_json(const Record& config);

}  // namespace slurm_plugin
