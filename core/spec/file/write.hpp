// SPDX-License-Identifier: Apache-2.0
// Writes settings as a job file that can be read back, and the schema of job files. Pure,
// thread-safe.
#pragma once

#include "core/spec/file/layers.hpp"

#include <string>

namespace dts::spec {

enum class Origins {
  omitted,
  shown,  // in a comment after each value; built-in values are comments as a whole
};

// One key per line, in the order of options(); arrays of tables ([[steps]]) come last.
[[nodiscard]] std::string to_toml(const Layer& settings, Origins origins);

// One object with the same keys.
[[nodiscard]] std::string to_job_json(const Layer& settings);

// {"schema": "dtsubmit/config/1", "values": {"nodes": {"value": 2, "origin": "job.toml:3:9"}}},
// built-in values included.
[[nodiscard]] std::string to_config_json(const Layer& settings);

// The JSON schema (draft 7) of a job file, derived from options() and from what their readers
// accept.
[[nodiscard]] std::string job_file_schema();

}  // namespace dts::spec
