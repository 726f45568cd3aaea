// SPDX-License-Identifier: Apache-2.0
// File names of the job's log. Pure, thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace dts::script {

// Values for the fields of a file name pattern.
struct LogNames {
  std::string job_name;  // %x; its slashes become `_`
  std::string job;       // %j, %J; in an array "4711_3", whose parts are %A and %a
  std::string user;      // %u
  // Array element "4711_3" for %A and %a in a job that continues the element but is not in an array
  // itself; empty: taken from `job`.
  std::string element = {};
};

// The pattern with its fields filled in (sbatch(1), FILENAME PATTERN); "%5j" is padded with zeros.
// Unknown fields stay as they are.
[[nodiscard]] std::string log_link_path(const std::string& pattern, const LogNames& names);

// Escapes literal text for use in a pattern.
[[nodiscard]] std::string escape_pattern(std::string_view text);

// The log itself: standard output and error of the agent.
[[nodiscard]] std::string log_path(const std::string& run_dir, const std::string& job);

// Whether the path follows the naming of log_path().
[[nodiscard]] bool is_log(const std::string& path);

}  // namespace dts::script
