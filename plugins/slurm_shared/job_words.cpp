// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/job_words.hpp"

#include "plugins/slurm_shared/limit_words.hpp"

#include <algorithm>
#include <initializer_list>

namespace slurm_plugin {
namespace {

struct Row {
  std::string_view reason;
  const char* why;
  const char* advice = "";
};

constexpr const char* k_smaller =
    "a shorter --time or fewer --nodes would let it fill a gap (backfill)";
constexpr const char* k_other_partition = "wait, or submit to another --partition";
constexpr const char* k_ask = "ask the administrators";
constexpr const char* k_release = "once that is fixed: scontrol release {job}";

constexpr Row k_rows[] = {
    {"None", "Slurm has not looked at it yet", "look again in a minute"},
    {"Priority", "jobs of a higher priority wait before it", k_smaller},
    {"Resources", "it is next, and waits for nodes to become free", k_smaller},
    {"Dependency", "it waits for another job"},
    {"DependencyNeverSatisfied",
     "the job that it depends on ended in a way that its dependency forbids: it will never start",
     "dtsubmit cancel {job}, or scontrol update JobId={job} Dependency="},
    {"BeginTime", "it may not start before its begin time"},
    {"JobHeldUser", "it is held", "scontrol release {job}"},
    {"JobHeldAdmin", "an administrator holds it", "ask the administrators to release it"},
    {"JobHoldMaxRequeue",
     "it was requeued so often that Slurm holds it (MaxBatchRequeue)",
     k_release},
    {"ReqNodeNotAvail",
     "nodes that it needs are unavailable: down, drained, or reserved before its time limit ends",
     "sinfo -R shows why"},
    {"NodeDown", "a node that it needs is down", "sinfo -R shows why"},
    {"FrontEndDown", "no front end node is up", k_ask},
    {"BadConstraints",
     "no node has what it asks for: it will never start",
     "compare --nodes, --gpus-per-node, --cpus-per-task and --mem with sinfo -o \"%n %c %m %G\""},
    {"PartitionNodeLimit",
     "it asks for more nodes than its partition gives one job, or than are up in it",
     "ask for fewer --nodes, or for another --partition"},
    {"PartitionTimeLimit",
     "its time limit is longer than its partition allows",
     "dtsubmit cancel {job}, and submit it with a shorter --time"},
    {"PartitionDown", "its partition is down: it takes jobs and starts none", k_other_partition},
    {"PartitionInactive", "its partition is inactive: it starts no job", k_other_partition},
    {"PartitionConfig",
     "its partition does not accept this job (its accounts, groups, QOS or size)",
     "submit it to another --partition, or with an --account or --qos that it allows"},
    {"Reservation", "it waits for its reservation to begin or to have room"},
    {"ReservationInvalid",
     "its reservation does not fit it",
     "scontrol show reservation shows what it allows"},
    {"ReservationDeleted",
     "its reservation is over or was deleted, and Slurm holds the jobs that still waited for it",
     "scontrol release {job} lets it run without a reservation"},
    {"Licenses", "it waits for a licence that other jobs use"},
    {"SchedDefer", "it asked to start at once, and Slurm starts jobs later"},
    {"JobArrayTaskLimit", "the allowed number of its array's tasks is running"},
    {"Cleaning", "what is left of its last run is still being cleaned up"},
    {"Prolog", "the prolog of its nodes still runs"},
    {"BlockMaxError", "its nodes are in an error state", k_ask},
    {"BlockFreeAction", "its nodes are still being freed"},
    {"BurstBufferResources", "it waits for room in the burst buffer"},
    {"BurstBufferStageIn", "its files are being copied into the burst buffer"},
    {"BurstBufferOperation", "the burst buffer failed", k_ask},
    {"MaxPoweredUpNodes", "the allowed number of nodes is powered up"},
    {"MpiPortsBusy", "the ports that Slurm reserves for MPI are in use on its nodes"},
    {"NvidiaImexChannels", "no IMEX channel between GPUs is free"},
    {"Constraints", "no nodes with the features that it asks for are free"},
    {"PowerNotAvail", "it waits for electric power under the cluster's cap"},
    {"PowerReserved", "the power that it needs is reserved"},
    {"FedJobLock", "its federation has not agreed on a cluster yet"},
    {"DeadLine", "it can no longer end before its deadline: it will never start"},
    {"InvalidAccount", "its account is not valid", "submit it with another --account"},
    {"AccountNotAllowed",
     "its account may not use this partition",
     "submit it with another --account or --partition"},
    {"InvalidQOS", "its QOS is not valid", "submit it with another --qos"},
    {"QOSNotAllowed",
     "its QOS may not be used in this partition or by its account",
     "submit it with another --qos or --partition"},
    {"QOSUsageThreshold",
     "its account has used too much for this QOS",
     "wait, or use another --qos"},
    {"AccountingPolicy", "it is over a limit of the accounting policy", k_ask},
    {"AssociationJobLimit", "its account runs as many jobs as it may"},
    {"AssociationResourceLimit", "its account uses as much as it may"},
    {"AssociationTimeLimit", "its account has used up its time"},
    {"QOSJobLimit", "its QOS runs as many jobs as it may"},
    {"QOSResourceLimit", "its QOS uses as much as it may"},
    {"QOSTimeLimit", "its QOS has used up its time"},
    {"MaxMemPerLimit",
     "it asks for more memory than a job may have on a node",
     "dtsubmit cancel {job}, and submit it with a smaller --mem"},
    {"SystemFailure", "a failure of Slurm, its file system or the network", k_release},
    {"JobLaunchFailure", "Slurm could not launch it on its first node", k_release},
    {"RaisedSignal", "its batch script was ended by a signal"},
    {"NonZeroExitCode", "its batch script ended with an error"},
    {"TimeLimit", "its time limit was reached"},
    {"InactiveLimit", "it was inactive for longer than Slurm allows"},
    {"OutOfMemory", "it ran out of memory"},
};

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

constexpr int k_exit_io = 74;  // dtsubmit's exit code for file errors

constexpr const char* k_see_folder =
    "check that the run directory exists, is writable, and is shared with the nodes";

std::string first_node_of(const JobRecord& job) {
  return job.first_node.empty() ? "the first node" : job.first_node + ", the first node";
}

// We cannot avoid that node ourselves: without its first node, no part of the job has run.
std::string without_first_node(const JobRecord& job) {
  if (job.first_node.empty()) return "";
  return "; until then, submit it with --exclude " + job.first_node;
}

JobWords words_of_failure(const JobRecord& job) {
  // slurmd's ESLURMD_IO: 0:53 (measured on 22.05; the batch script never ran).
  if (job.exit_signal == k_files_unusable)
    return {"Slurm could not open its log file or enter its folder on " + first_node_of(job) +
                " (exit code 0:53)",
            k_see_folder + without_first_node(job)};
  if (job.exit_signal == 9)
    return {"its batch script, the agent, was killed (signal 9)",
            "dmesg on its first node shows whether the kernel killed it for lack of memory"};
  if (job.exit_signal != 0)
    return {"its batch script, the agent, was ended by signal " + std::to_string(job.exit_signal),
            ""};
  if (job.reason == "JobLaunchFailure")
    return {"Slurm could not launch its batch script on " + first_node_of(job),
            "sinfo -R and the node's slurmd log have more"};
  const std::string code = std::to_string(job.exit_code);
  if (job.exit_code == 127 || job.exit_code == 126)
    return {"its batch script could not start dtsubmit on " + first_node_of(job) + " (exit code " +
                code + ")",
            "check that dtsubmit is at the same path on the nodes" + without_first_node(job)};
  if (job.exit_code == k_exit_io)
    return {"its run directory vanished or could not be written (exit code " + code + ")",
            k_see_folder};
  return {"its batch script ended with exit code " + code, ""};
}

struct End {
  std::string_view state;
  const char* why;
  const char* advice = "";
};

constexpr End k_ends[] = {
    {"completed", "its batch script exited 0"},
    {"cancelled", "it was cancelled"},
    {"timed_out", "its time limit was reached before the agent had ended"},
    {"node_failed",
     "one of its nodes failed, and it was not requeued",
     "sinfo -R shows which nodes are down"},
    {"preempted", "another job took its nodes, and it was not requeued"},
    {"out_of_memory",
     "it used more memory than it had asked for",
     "submit it with a larger --mem, or make its program use less"},
    {"unknown", "Slurm calls it unknown"},
};

bool mentions(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(
      words.begin(), words.end(), [&](std::string_view word) { return has(text, word); });
}

// Advice for a pending job. If nodes are down or drained, no shorter job will start on them.
std::string advice_on(const JobRecord& job, const std::string& advice) {
  const std::string& said = job.description;
  if (mentions(said, {"UnavailableNodes", "DOWN", "DRAIN", "down", "drain"})) return k_nodes_away;
  if (is_kept_out(job))
    return "scontrol show reservation shows more; a shorter --time may end before a reservation or "
           "a maintenance begins";
  return advice;
}

JobWords words_of_waiting(const JobRecord& job) {
  // A maintenance keeps a job waiting for "Reservation", although it has none.
  const bool is_kept_out = has(job.description, "ReqNodeNotAvail");
  JobWords words =
      words_of_reason(is_kept_out ? "ReqNodeNotAvail" : job.reason).value_or(JobWords{});
  words.advice = advice_on(job, words.advice);
  if (job.reason == "BeginTime")
    words.why = job.was_requeued ? "Slurm lets a requeued job begin only once its old credential "
                                   "has expired (AuthInfo=cred_expire, 120 s by default)"
                                 : "it was submitted to begin later";
  if (job.asks_for_switches && job.reason == "Resources")
    words.why += ", at first only for nodes below as few switches as it asks for (--switches)";
  if (has(job.description, "launch failed"))
    words.why = "Slurm could not launch it, put it back into the queue and holds it";
  return words;
}

}  // namespace

std::optional<JobWords> words_of_reason(std::string_view reason) {
  for (const Row& row : k_rows)
    // "RaisedSignal:9(Killed)"
    if (row.reason == reason.substr(0, reason.find(':'))) return JobWords{row.why, row.advice};
  return words_of_limit(reason);
}

bool is_preparing(const JobRecord& job) {
  return job.preparing && job.state == "running";
}

JobWords words_of(const JobRecord& job) {
  if (job.state == "pending") return words_of_waiting(job);
  if (is_preparing(job))
    return {"it has nodes, which are being powered up or prepared by the site", ""};
  if (job.state == "failed") return words_of_failure(job);
  for (const End& end : k_ends)
    if (end.state == job.state) return {end.why, end.advice};
  return {};
}

std::string waits_for(std::string_view reason) {
  if (reason == "BeginTime") return "time";
  return has_planned_start(reason) || reason == "ReqNodeNotAvail" ? "nodes" : "";
}

bool has_no_limit(std::int64_t start, std::int64_t end, std::int64_t time_limit) {
  constexpr std::int64_t k_year = std::int64_t{365} * 24 * 3600;
  return time_limit <= k_year && start > 0 && end - start >= k_year;
}

bool is_kept_out(const JobRecord& job) {
  return mentions(job.description, {"ReqNodeNotAvail"}) &&
         mentions(job.description, {"aintenance", "eserved"});
}

bool has_planned_start(std::string_view reason) {
  return reason == "Resources" || reason == "Priority";
}

}  // namespace slurm_plugin
