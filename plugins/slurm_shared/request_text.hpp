// SPDX-License-Identifier: Apache-2.0
// Strings in requests that may contain any bytes: paths, environment variables.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace slurm_plugin {

// A string, or {"hex": ...} if the bytes are not UTF-8 (dtsubmit-plugins(7), CALLS).
[[nodiscard]] std::string bytes_of(const nlohmann::json& value);

}  // namespace slurm_plugin
