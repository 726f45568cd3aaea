// SPDX-License-Identifier: Apache-2.0
// Settings as a job file that can be read back, and the schema of job files. Pure, thread-safe.
#pragma once

#include "core/spec/file/layers.hpp"

#include <string>

namespace dts::spec {

enum class Origins {
  omitted,
  shown,  // as a comment after each value, with the built-in values, which are comments themselves
};

// One key a line, in the order of options(); lists of tables ([[steps]]) come last.
[[nodiscard]] std::string to_toml(const Layer& settings, Origins origins);

// One object with the same keys.
[[nodiscard]] std::string to_job_json(const Layer& settings);

// {"schema": "dtsubmit/config/1", "values": {"nodes": {"value": 2, "origin": "job.toml:3:9"}}},
// built-in values included.
[[nodiscard]] std::string to_config_json(const Layer& settings);

// The JSON schema (draft 7) of a job file. It is made of options() and of what their readers take.
[[nodiscard]] std::string job_file_schema();

}  // namespace dts::spec
