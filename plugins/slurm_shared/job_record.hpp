// SPDX-License-Identifier: Apache-2.0
// Converts a job from the output of `scontrol --details show job` to the reply. Pure.
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

// Facts about an ending job that scontrol does not print.
struct JobSituation {
  std::int64_t now = 0;  // Unix seconds
  // If it is our own job: the restart count at the beginning of this run.
  std::optional<std::int64_t> restarts;
  // If it is our own job: the end of its batch script's output, where slurmstepd writes why it
  // ends the job.
  std::string log{};
};

// The state in the words of sched::to_string. scontrol shows a job as COMPLETING while its
// processes are being ended. Its other fields reveal its final state, but not at once: nullopt
// until they do.
[[nodiscard]] std::optional<std::string> state_of(const Record& job, const JobSituation& known);

// Converts scontrol's JobState, or sacct's State ("CANCELLED by 1000"); "unknown" for any other
// word.
[[nodiscard]] std::string state_word(const std::string& word);

// Slurm's word for why a job waits or failed, and its longer text. If there is a text, scontrol
// prints only that, with underscores for blanks.
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

// Whether the record is that of the job, or, for a pending task, the record of its
// array.
[[nodiscard]] bool is_of(const Record& job, const JobName& name);

// Whether the record is of a federation's job that runs on another cluster; clusters keep such
// records, but only the other cluster knows the job's state.
[[nodiscard]] bool is_revoked(const Record& job);

// The job's processors by node: "Nodes=n[0-1] CPU_IDs=0-3 Mem=0" gives ["0-3", "0-3"].
[[nodiscard]] std::vector<std::string> cpus_of(const Record& job);

// The reply for a job in that state.
[[nodiscard]] json job_json(const Record& job, const std::string& state);

}  // namespace slurm_plugin
