// SPDX-License-Identifier: Apache-2.0
// Turns Slurm's one-word reasons, and its record of an ended job, into sentences. Pure; does not
// use libslurm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slurm_plugin {

// Each text is a clause without a full stop: "it is next, and waits for nodes to become free".
// `advice` may contain "{job}" for the job's id; it is empty if the user can only wait.
struct JobWords {
  std::string why;
  std::string advice;
};

// The record from which the sentences are made.
struct JobRecord {
  std::string state{};        // from job_state_word()
  bool preparing = false;     // its nodes are booting, or their prologs run
  std::string reason{};       // as squeue prints it
  std::string description{};  // scontrol's longer text
  bool was_requeued = false;
  int exit_code = 0;
  int exit_signal = 0;
  std::string first_node{};        // where its batch script runs; empty: unknown
  bool asks_for_switches = false;  // --switches
};

// The sentences for a reason as squeue prints it (enum job_state_reason in slurm.h; squeue(1), JOB
// REASON CODES; for limits: resource_limits on slurm.schedmd.com). nullopt for an unknown reason.
[[nodiscard]] std::optional<JobWords> words_of_reason(std::string_view reason);

// Why the job waits, or, if the agent had no time to report it, what its record says about its end
// and what that usually means. Empty for an unknown reason and
// for a running job, unless its nodes are still being prepared.
[[nodiscard]] JobWords words_of(const JobRecord& job);

// Whether it has nodes, on which its batch script cannot begin yet.
[[nodiscard]] bool is_preparing(const JobRecord& job);

// "nodes" or "time" if a job with this reason waits for them, otherwise empty.
[[nodiscard]] std::string waits_for(std::string_view reason);

// Whether a pending job with this reason waits for nodes, so that Slurm plans its start.
[[nodiscard]] bool has_planned_start(std::string_view reason);

// Whether a pending job waits because nodes are reserved for others, or for a maintenance, during
// the time that it asks for. The backfill scheduler plans the start of such a job, too.
[[nodiscard]] bool is_kept_out(const JobRecord& job);

// Whether a job with this start, end and time limit in seconds (0: unknown) has no time limit:
// Slurm then sets the end a year ahead (job_mgr.c), and its backfill scheduler a limit of exactly a
// year.
[[nodiscard]] bool has_no_limit(std::int64_t start, std::int64_t end, std::int64_t time_limit);

// slurmd's ESLURMD_IO as a job's exit signal: slurmd could not open the log or enter the folder of
// the batch script, which never ran.
inline constexpr int k_files_unusable = 53;

// Slurm's other phrases for messages; see sched::Phrases.
inline constexpr const char* k_name = "Slurm";
inline constexpr const char* k_cancel = "scancel {job}";
inline constexpr const char* k_accounting = "where there is accounting: sacct -j {job}";
inline constexpr const char* k_forgets = "it forgets jobs MinJobAge after their end";
inline constexpr const char* k_nodes_away =
    "sinfo -R shows why nodes are away; it starts once enough of them are back";
inline constexpr const char* k_forecast =
    "Slurm's forecast considers running jobs and reservations, but not waiting jobs: those that "
    "start first delay it";
inline constexpr const char* k_billing = "TRESBillingWeights of the partition, slurm.conf(5)";

}  // namespace slurm_plugin
