// SPDX-License-Identifier: Apache-2.0
// Slurm's one-word reasons and its record of an ended job, in sentences. Pure, and without
// libslurm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slurm_plugin {

// Each a clause without a full stop: "it is next, and waits for nodes to become free". `advice` may
// hold "{job}" for the job's id; empty where waiting is all there is to do.
struct JobWords {
  std::string why;
  std::string advice;
};

// What the words are made of.
struct JobRecord {
  std::string state{};        // job_state_word()'s
  std::string reason{};       // as squeue prints it
  std::string description{};  // scontrol's more words
  bool was_requeued = false;
  int exit_code = 0;
  int exit_signal = 0;
};

// The words for a reason as squeue prints it (enum job_state_reason of slurm.h; squeue(1), JOB
// REASON CODES; the limits: resource_limits of slurm.schedmd.com). nullopt for one that is not
// known.
[[nodiscard]] std::optional<JobWords> words_of_reason(std::string_view reason);

// Why the job waits, or what its record says of its end and what that usually means, for an end of
// which the agent had no time to report. Empty for a job that runs, and for an unknown reason.
[[nodiscard]] JobWords words_of(const JobRecord& job);

// "nodes" or "time" where that is what a job of this reason waits for, otherwise empty.
[[nodiscard]] std::string waits_for(std::string_view reason);

// Whether the start that Slurm expects for a waiting job means anything: a held job has one a year
// ahead.
[[nodiscard]] bool has_planned_start(std::string_view reason);

// Whether a job that began and ends then has no time limit: Slurm gives it the year as its end
// (job_mgr.c).
[[nodiscard]] bool has_no_limit(std::int64_t start, std::int64_t end);

// slurmd's ESLURMD_IO as the end of a job: it could not open the log or enter the folder of the
// batch script, which never ran.
inline constexpr int k_files_unusable = 53;

// What else people read of Slurm, see sched::Phrases.
inline constexpr const char* k_name = "Slurm";
inline constexpr const char* k_cancel = "scancel {job}";
inline constexpr const char* k_accounting = "where there is accounting: sacct -j {job}";
inline constexpr const char* k_forgets = "it forgets jobs MinJobAge after their end";
inline constexpr const char* k_nodes_away =
    "sinfo -R shows why nodes are away; it starts once enough of them are back";

}  // namespace slurm_plugin
