// SPDX-License-Identifier: Apache-2.0
// Converts a job to the reply, for both plug-ins. Pure.
#pragma once

#include "plugins/slurm_shared/job_words.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace slurm_plugin {

// Times are Unix seconds; 0: none.
struct JobFacts {
  JobRecord record{};   // its reason is "None" if there is none
  std::string id{};     // "4711", or "4711_3" for a task of its own
  std::string array{};  // the number of its array; empty if it is in none
  std::string tasks{};  // the waiting tasks that the record stands for
  bool completing = false;
  std::string partition{};
  std::string reservation{};
  std::string dependency{};
  std::string nodes{};              // host list
  std::vector<std::string> cpus{};  // its processors by node: "0-3"
  std::string exclude_nodes{};
  std::int64_t restart_count = 0;
  bool requeue = false;
  std::int64_t eligible_time = 0;
  std::int64_t start_time = 0;  // for a waiting job the planned start
  std::int64_t end_time = 0;
  bool unlimited = false;       // known to have no time limit; see also has_no_limit()
  std::int64_t time_limit = 0;  // seconds; not above 0: none, or not known
  std::int64_t preempt_time = 0;
  std::string command{};
};

// Whether the expected start of a pending job is a mere guess: Slurm assumes that a job without a
// time limit runs for a year, and the pending job waits for its end. Times are Unix seconds.
[[nodiscard]] bool is_a_guess(std::int64_t start, std::int64_t now);

[[nodiscard]] nlohmann::json reply_of(const JobFacts& job);

}  // namespace slurm_plugin
