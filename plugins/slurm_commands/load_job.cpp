// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_commands/load_job.hpp"

#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/command.hpp"
#include "plugins/slurm_shared/job_record.hpp"
#include "plugins/slurm_shared/job_words.hpp"
#include "plugins/slurm_shared/reservation.hpp"
#include "plugins/slurm_shared/show_job.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace slurm_plugin {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds k_to_reveal{1};
constexpr std::chrono::milliseconds k_look{100};
constexpr std::streamoff k_end_of_log = 1 << 20;  // bytes that are searched

// Empty if the log cannot be read.
std::string end_of_log(const std::string& path) {
  std::ifstream log(path, std::ios::binary | std::ios::ate);
  log.seekg(std::max<std::streamoff>(0, std::streamoff(log.tellg()) - k_end_of_log));
  return {std::istreambuf_iterator<char>(log), {}};
}

JobSituation known_of(const Record& job) {
  JobSituation known{.now = std::time(nullptr), .restarts = std::nullopt};
  const char* own = std::getenv("SLURM_JOB_ID");
  if (own == nullptr || job.text("JobId") != own) return known;
  const char* restarts = std::getenv("SLURM_RESTART_COUNT");
  known.restarts =
      restarts == nullptr ? 0 : static_cast<std::int64_t>(dts::parse_number(restarts).value_or(0));
  if (job.text("JobState") == "COMPLETING") known.log = end_of_log(job.text("StdErr"));
  return known;
}

// For a job without a time limit scontrol prints no end, although a preemption sets one.
void add_end_of_grace(const Record& job, json& reply) {
  if (reply["preempt_time"] == 0 || reply["end_time"] != 0) return;
  const auto text = output_of({"scontrol", "--all", "show", "partition", job.text("Partition")});
  const auto partitions = text ? parse_records(*text) : std::vector<Record>();
  if (!partitions.empty())
    reply["end_time"] =
        reply["preempt_time"].get<std::int64_t>() + partitions.front().number("GraceTime");
}

// If a job was preempted without a grace time and is back in the queue, scontrol no longer prints
// PreemptTime, but squeue does until its processes are gone. Only the job itself needs this, to
// find out why it is being ended.
void add_preemption(const Record& job, const JobSituation& known, json& reply) {
  const bool was_requeued = known.restarts && job.number("Restarts") > *known.restarts;
  if (!was_requeued || reply["preempt_time"] != 0) return;
  const auto text = output_of({"squeue",
                               "--local",
                               "--all",
                               "-h",
                               "-t",
                               "all",
                               "-j",
                               job.text("JobId"),
                               "-O",
                               "PreemptTime"});
  if (const auto time = text ? dts::parse_number(dts::trim(*text)) : std::nullopt)
    reply["preempt_time"] = *time;
}

// The record in `records` of the job of that name.
std::optional<Record> record_of(std::vector<Record>& records, const JobName& name) {
  for (Record& record : records)
    if (is_of(record, name)) return std::move(record);
  return std::nullopt;
}

// The record of a federation's job that runs on another of its clusters; nullopt if no cluster
// reports it.
std::optional<Record> record_elsewhere(const json& request, const JobName& name) {
  auto records = show_job(request["id"].get<std::string>(), {}, Of::its_federation);
  if (!records) return std::nullopt;
  std::erase_if(*records, is_revoked);
  return record_of(*records, name);
}

}  // namespace

Outcome<Record> load_job(const json& request) {
  const auto name = job_name(request);
  if (!name) return tl::unexpected<Failure>(name.error());
  auto records = show_job(request["id"].get<std::string>(), named_job(request));
  if (!records && records.error().message.ends_with("not found"))  // a task that its array lacks
    return failed(meanings::k_no_job, std::move(records.error().message));
  if (!records) return tl::unexpected<Failure>(std::move(records).error());
  auto record = record_of(*records, *name);
  if (!record) return failed(meanings::k_no_job, named_job(request) + ": Invalid job id specified");
  if (!is_revoked(*record)) return *std::move(record);
  return record_elsewhere(request, *name).value_or(*std::move(record));
}

Outcome<json> job_reply(const json& request) {
  const auto until = Clock::now() + k_to_reveal;
  while (true) {
    const auto job = load_job(request);
    if (!job) return tl::unexpected<Failure>(job.error());
    const JobSituation known = known_of(*job);
    const auto state = state_of(*job, known);
    if (!state && Clock::now() < until) {
      std::this_thread::sleep_for(k_look);
      continue;
    }
    json reply = job_json(*job, state.value_or("running"));
    add_end_of_grace(*job, reply);
    add_preemption(*job, known, reply);
    return with_reservations(std::move(reply), known.now);
  }
}

json job_reply(const Record& job) {
  return job_json(job, state_of(job, known_of(job)).value_or("running"));
}

}  // namespace slurm_plugin
