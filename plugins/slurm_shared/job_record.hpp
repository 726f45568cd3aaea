// SPDX-License-Identifier: Apache-2.0
// A job as `scontrol --details show job` prints it, and as the reply describes it. Pure.
#pragma once

#include "plugins/slurm_shared/job_name.hpp"
#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slurm_plugin {

using nlohmann::json;

// What scontrol does not print, for a job that is ending.
struct Known {
  std::int64_t now = 0;  // Unix seconds
  // Of our own job, if the record is of it: the restart count with which this run began.
  std::optional<std::int64_t> restarts;
};

// The state in the words of sched::to_string. scontrol shows any job whose processes are still
// being ended as COMPLETING; its other fields reveal what it will be, but not at once: nullopt as
// long as they do not.
[[nodiscard]] std::optional<std::string> state_of(const Record& job, const Known& known);

// For JobState of scontrol and State of sacct ("CANCELLED by 1000"); "unknown" for any other word.
[[nodiscard]] std::string state_word(const std::string& word);

// Slurm's word for why a job waits or failed, and its longer text. scontrol prints the text alone
// where there is one, with underscores for blanks.
struct Reason {
  std::string word;
  std::string description;
};

[[nodiscard]] Reason reason_of(const std::string& printed);

// "0:15" -> exit code 0, signal 15.
struct Exit {
  int code = 0;
  int signal = 0;
};

[[nodiscard]] Exit exit_of(const std::string& printed);

// Whether the record is of that job; of a pending task that is still part of its array's record,
// too.
[[nodiscard]] bool is_of(const Record& job, const JobName& name);

// Whether it is a job of a federation whose turn came on another of its clusters, as those that
// have lost it keep it; only that cluster knows the job's state.
[[nodiscard]] bool is_revoked(const Record& job);

// For each node of the job, its processors: "Nodes=n[0-1] CPU_IDs=0-3 Mem=0" gives ["0-3", "0-3"].
[[nodiscard]] std::vector<std::string> cpus_of(const Record& job);

// The reply for a job in that state.
[[nodiscard]] json job_json(const Record& job, const std::string& state);

}  // namespace slurm_plugin
