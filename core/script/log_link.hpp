// SPDX-License-Identifier: Apache-2.0
// Names of the job's log. Pure, thread-safe.
#pragma once

#include <string>

namespace dts::script {

// What the fields of a file name pattern stand for.
struct LogNames {
  std::string job_name;  // %x; its slashes become `_`
  std::string job;       // %j, %J; in an array, "4711_3", %A and %a are its parts
  std::string user;      // %u
};

// The pattern with its fields filled in (sbatch(1), FILENAME PATTERN); "%5j" is padded with zeros.
// Others than those of LogNames and %% stay as they are.
[[nodiscard]] std::string log_link_path(const std::string& pattern, const LogNames& names);

// The log itself: standard output and error of the agent.
[[nodiscard]] std::string log_path(const std::string& run_dir, const std::string& job);

}  // namespace dts::script
