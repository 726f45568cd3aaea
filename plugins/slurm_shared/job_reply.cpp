// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/job_reply.hpp"

#include "core/base/text/json_bytes.hpp"

#include <nlohmann/json.hpp>

#include <ctime>

namespace slurm_plugin {
bool is_a_guess(std::int64_t start, std::int64_t now) {
  constexpr std::int64_t k_half_a_year = std::int64_t{182} * 24 * 3600;
  return start - now >= k_half_a_year;  // not a year: the other job may have run for months
}

namespace {

// Slurm gives no reason as long as the last run of a job that is back in the queue has not ended
// everywhere, which a slow Epilog can delay for minutes.
JobWords words_of(const JobFacts& job) {
  if (job.record.state == "pending" && job.completing && job.record.reason == "None")
    return {
        "its last run is not over on all of its nodes: processes or the Epilog are still finishing",
        "squeue -j {job} shows the state COMPLETING until then"};
  return words_of(job.record);
}

}  // namespace

nlohmann::json reply_of(const JobFacts& job) {
  const JobRecord& record = job.record;
  const bool pending = record.state == "pending";
  const JobWords words = words_of(job);
  const bool planned = !pending || ((has_planned_start(record.reason) || is_kept_out(record)) &&
                                    !is_a_guess(job.start_time, std::time(nullptr)));
  return {
      {"id", job.id},
      {"array", job.array},
      {"tasks", job.tasks},
      {"state", record.state},
      {"completing", job.completing},
      {"preparing", is_preparing(record)},
      {"reason", record.reason == "None" ? "" : record.reason},
      {"explanation", words.why},
      {"advice", words.advice},
      {"waits_for", pending ? waits_for(record.reason) : ""},
      {"description", record.description},
      {"partition", job.partition},
      {"reservation", job.reservation},
      {"dependency", job.dependency},
      {"nodes", job.nodes},
      {"cpus", job.cpus},
      {"exclude_nodes", job.exclude_nodes},
      {"restart_count", job.restart_count},
      {"requeue", job.requeue},
      {"eligible_time", job.eligible_time},
      {"start_time", planned ? job.start_time : 0},
      {"end_time", job.end_time},
      {"time_limit", job.time_limit},
      {"unlimited", job.unlimited || has_no_limit(job.start_time, job.end_time, job.time_limit)},
      {"preempt_time", job.preempt_time},
      {"exit_code", record.exit_code},
      {"exit_signal", record.exit_signal},
      {"command", dts::bytes_to_json(job.command)},
      {"files_unusable", record.exit_signal == k_files_unusable},
  };
}

}  // namespace slurm_plugin
