// SPDX-License-Identifier: Apache-2.0
// Names of the job's log. Pure, thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace dts::script {

// What the fields of a file name pattern stand for.
struct LogNames {
  std::string job_name;  // %x; its slashes become `_`
  std::string job;       // %j, %J; in an array, "4711_3", %A and %a are its parts
  std::string user;      // %u
  // %A and %a of a job that continues an element of an array and is in none itself, "4711_3";
  // empty: those of `job`.
  std::string element = {};
};

// The pattern with its fields filled in (sbatch(1), FILENAME PATTERN); "%5j" is padded with zeros.
// Others than those of LogNames and %% stay as they are.
[[nodiscard]] std::string log_link_path(const std::string& pattern, const LogNames& names);

// Literal text in such a pattern.
[[nodiscard]] std::string escape_pattern(std::string_view text);

// The log itself: standard output and error of the agent.
[[nodiscard]] std::string log_path(const std::string& run_dir, const std::string& job);

// Whether a file of this path is named as log_path() names one.
[[nodiscard]] bool is_log(const std::string& path);

}  // namespace dts::script
