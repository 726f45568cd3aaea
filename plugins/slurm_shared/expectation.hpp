// SPDX-License-Identifier: Apache-2.0
// When a job would start, according to slurm_job_will_run2(), or to `sbatch --test-only`, which
// prints the same. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slurm_plugin {

struct Expectation {
  std::int64_t start_time = 0;  // Unix seconds
  std::uint64_t processors = 0;
  std::string nodes{};                   // host list
  std::string partition{};               // empty if not reported, as for heterogeneous jobs
  std::vector<std::string> preempted{};  // ids of the jobs that would be preempted
};

// The result of the operation `expect` at the time `now`, Unix seconds. A start that is a mere
// guess (is_a_guess()) is 0.
[[nodiscard]] nlohmann::json reply_of(const Expectation& expectation, std::int64_t now);

// Parses the output of sbatch, with or without its name at the beginning of each line:
//   Job 7 to start at 1764072000 using 8 processors on nodes n[1-2] in partition main
//     Preempts: 5,6
// The time is in Unix seconds (SLURM_TIME_FORMAT=%s), or in Slurm's default form. nullopt if there
// is no such line.
[[nodiscard]] std::optional<Expectation> parse_expectation(std::string_view said);

}  // namespace slurm_plugin
