// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/job_record.hpp"

#include "core/base/text/array_indices.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/job_reply.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace slurm_plugin {
namespace {

struct StateWord {
  std::string_view slurm;
  const char* ours;
};

// squeue(1), JOB STATE CODES.
constexpr StateWord k_states[] = {
    {"PENDING", "pending"},
    {"REQUEUED", "pending"},
    {"REQUEUE_HOLD", "pending"},
    {"REQUEUE_FED", "pending"},
    {"RESV_DEL_HOLD", "pending"},
    {"SPECIAL_EXIT", "pending"},
    {"EXPEDITING", "pending"},
    {"RUNNING", "running"},
    {"CONFIGURING", "running"},
    {"POWER_UP_NODE", "running"},
    {"SIGNALING", "running"},
    {"RESIZING", "running"},
    {"SUSPENDED", "suspended"},
    {"STOPPED", "suspended"},
    {"COMPLETED", "completed"},
    {"CANCELLED", "cancelled"},
    {"FAILED", "failed"},
    {"LAUNCH_FAILED", "failed"},
    {"RECONFIG_FAIL", "failed"},
    {"TIMEOUT", "timed_out"},
    {"DEADLINE", "timed_out"},
    {"NODE_FAIL", "node_failed"},
    {"BOOT_FAIL", "node_failed"},
    {"PREEMPTED", "preempted"},
    {"OUT_OF_MEMORY", "out_of_memory"},
};

// Reasons that slurmctld sets when it ends a job, with the job's final state.
constexpr StateWord k_end_reasons[] = {
    {"TimeLimit", "timed_out"},
    {"NodeDown", "node_failed"},
    {"OutOfMemory", "out_of_memory"},
    {"NonZeroExitCode", "failed"},
    {"RaisedSignal", "failed"},
    {"JobLaunchFailure", "failed"},
    {"SystemFailure", "failed"},
};

// Texts that replace a reason (slurmctld, state_desc).
struct Description {
  std::string_view beginning;
  std::string_view later;  // also contained
  const char* reason;
};

constexpr Description k_descriptions[] = {
    {"Nodes required for job are DOWN", "", "Resources"},
    {"launch failed requeued held", "", "JobHeldUser"},
    {"launch failure limit exceeded", "", "JobHeldUser"},
    {"job requeued in held state", "", "JobHeldUser"},
    {"job requeued in special exit state", "", "JobHeldUser"},
    {"Job's account not ", "", "AccountNotAllowed"},
    {"Job's QOS not ", "", "QOSNotAllowed"},
    {"uid ", " not in group permitted", "PartitionConfig"},
    {"Job is at or exceeds ", "", "TimeLimit"},
    {"Reservation ", " has ended", "TimeLimit"},
    {"Reservation ", " was deleted", "ReservationDeleted"},
    {"Reservation ", " is invalid", "ReservationInvalid"},
};

constexpr std::int64_t k_clocks_differ = 60;  // the most by which clocks differ, in seconds

// Its end is in the future: it was requeued, or has no limit.
bool ends_later(const Record& job, std::int64_t now) {
  return job.text("EndTime") == "Unknown" || job.time("EndTime") > now + k_clocks_differ;
}

// slurmstepd: "*** JOB 7 ON n0 CANCELLED AT 2026-11-29T14:01:12 DUE TO PREEMPTION ***" in the log,
// since the job's start. A job that the gang scheduler preempts has no PreemptTime.
bool is_preempted_in_log(const Record& job, const JobSituation& known) {
  constexpr std::string_view k_before = " CANCELLED AT ";
  constexpr std::string_view k_after = " DUE TO PREEMPTION ***";
  const std::size_t after = known.log.rfind(k_after);
  const std::size_t before = known.log.rfind(k_before, after);
  if (after == std::string::npos || before == std::string::npos) return false;
  const std::size_t at = before + k_before.size();
  const std::int64_t when = time_in(known.log.substr(at, after - at));
  return when >= job.time("StartTime") && when <= known.now + k_clocks_differ;
}

std::optional<std::string> state_behind_completing(const Record& job, const JobSituation& known) {
  if (known.restarts && job.number("Restarts") > *known.restarts) return "pending";
  if (!known.restarts && ends_later(job, known.now)) return "pending";
  const std::string reason = reason_of(job.text("Reason")).word;
  for (const StateWord& row : k_end_reasons)
    if (row.slurm == reason) return row.ours;
  if (job.time("PreemptTime") != 0 || is_preempted_in_log(job, known)) return "preempted";
  // Our own job's script still runs, so it did not end by itself.
  if (known.restarts || exit_of(job.text("ExitCode")).signal != 0) return "cancelled";
  return std::nullopt;  // exited 0, or cancelled a moment ago
}

// Whether the record stands for all waiting tasks of an array: "3-9:2%4".
bool is_meta(const Record& job) {
  const std::string tasks = job.text("ArrayTaskId");
  return !tasks.empty() && !dts::parse_number(tasks);
}

std::string id_of(const Record& job) {
  const std::string array = job.text("ArrayJobId");
  if (array.empty() || is_meta(job)) return job.text("JobId");
  return array + "_" + job.text("ArrayTaskId");
}

// Without "%4", which is not an index.
std::string waiting_tasks(const Record& job) {
  if (!is_meta(job)) return {};
  const std::string tasks = job.text("ArrayTaskId");
  return tasks.substr(0, tasks.find('%'));
}

bool has_task(const Record& job, std::uint32_t task) {
  if (!is_meta(job)) return job.number("ArrayTaskId") == task;
  const auto tasks = dts::parse_array_indices(waiting_tasks(job));
  return tasks && std::ranges::binary_search(tasks->indices, task);
}

bool is_number(const Record& job, const char* field, std::uint32_t number) {
  return dts::parse_number(job.text(field)) == number;
}

}  // namespace

std::vector<std::string> cpus_of(const Record& job) {
  std::vector<std::string> list;
  std::size_t nodes = 0;
  for (const auto& [name, value] : job.fields()) {
    if (name == "Nodes") {
      const auto expanded = dts::expand_hostlist(value);
      nodes = expanded ? expanded->size() : 0;
    }
    if (name != "CPU_IDs") continue;
    for (; nodes > 0; --nodes) list.push_back(value);
  }
  return list;
}

std::string state_word(const std::string& word) {
  const std::string_view first = std::string_view(word).substr(0, word.find(' '));
  for (const StateWord& row : k_states)
    if (row.slurm == first) return row.ours;
  return "unknown";
}

std::optional<std::string> state_of(const Record& job, const JobSituation& known) {
  const std::string word = job.text("JobState");
  return word == "COMPLETING" || word == "STAGE_OUT" ? state_behind_completing(job, known)
                                                     : state_word(word);
}

Reason reason_of(const std::string& printed) {
  if (printed.empty() || printed == "None") return {};
  const std::string first = printed.substr(0, printed.find_first_of(",_:("));
  if (first == printed) return {printed, ""};
  std::string description = printed;
  std::ranges::replace(description, '_', ' ');
  for (const Description& row : k_descriptions)
    if (description.starts_with(row.beginning) && description.find(row.later) != std::string::npos)
      return {row.reason, description};
  return {first, description};
}

Exit exit_of(const std::string& printed) {
  const std::size_t colon = std::min(printed.find(':'), printed.size());
  const auto part = [](std::string_view text) {
    return static_cast<int>(dts::parse_number(text).value_or(0));
  };
  const std::string_view text = printed;
  return {part(text.substr(0, colon)), part(text.substr(std::min(colon + 1, text.size())))};
}

bool is_of(const Record& job, const JobName& name) {
  if (name.task) return is_number(job, "ArrayJobId", name.number) && has_task(job, *name.task);
  if (name.component)
    return is_number(job, "HetJobId", name.number) &&
           is_number(job, "HetJobOffset", *name.component);
  return is_number(job, "JobId", name.number);
}

bool is_revoked(const Record& job) {
  return job.text("JobState") == "REVOKED";
}

json job_json(const Record& job, const std::string& state) {
  const Reason reason = reason_of(job.text("Reason"));
  const Exit exit = exit_of(job.text("ExitCode"));
  const std::string printed = job.text("JobState");
  return reply_of(
      JobFacts{.record = {.state = state,
                          .preparing = printed == "CONFIGURING" || printed == "POWER_UP_NODE",
                          .reason = reason.word.empty() ? "None" : reason.word,
                          .description = reason.description,
                          .was_requeued = job.number("Restarts") > 0,
                          .exit_code = exit.code,
                          .exit_signal = exit.signal,
                          .first_node = job.text("BatchHost"),
                          .asks_for_switches = job.number("Switches") > 0},
               .id = id_of(job),
               .array = job.text("ArrayJobId"),
               .tasks = waiting_tasks(job),
               .completing = printed == "COMPLETING" || printed == "STAGE_OUT",
               .partition = job.text("Partition"),
               .reservation = job.text("Reservation"),
               .dependency = job.text("Dependency"),
               .nodes = job.text("NodeList"),
               .cpus = cpus_of(job),
               .exclude_nodes = job.text("ExcNodeList"),
               .restart_count = job.number("Restarts"),
               .requeue = job.text("Requeue") == "1",
               .eligible_time = job.time("EligibleTime"),
               .start_time = job.time("StartTime"),
               .end_time = job.time("EndTime"),
               .unlimited = job.text("TimeLimit") == "UNLIMITED",
               .time_limit = seconds_of(job.text("TimeLimit")),
               .preempt_time = job.time("PreemptTime"),
               .command = job.text("Command")});
}

}  // namespace slurm_plugin
