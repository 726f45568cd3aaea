// SPDX-License-Identifier: Apache-2.0
#include "core/sched/reason.hpp"

#include "core/base/result.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace dts::sched {
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
constexpr const char* k_release = "when that is mended: scontrol release {job}";

constexpr Row k_rows[] = {
    {"None", "Slurm has not looked at it yet", "look again in a minute"},
    {"Priority", "jobs of a higher priority wait before it", k_smaller},
    {"Resources", "it is next, and waits for nodes to become free", k_smaller},
    {"Dependency", "it waits for another job"},
    {"DependencyNeverSatisfied",
     "the job that it depends on ended in a way that its dependency forbids: it will never start",
     "dtsubmit cancel {job}, or scontrol update JobId={job} Dependency="},
    {"BeginTime", "it may not begin before its time"},
    {"JobHeldUser", "it is held", "scontrol release {job}"},
    {"JobHeldAdmin", "an administrator holds it", "ask the administrators to release it"},
    {"JobHoldMaxRequeue",
     "it was requeued so often that Slurm holds it (MaxBatchRequeue)",
     k_release},
    {"ReqNodeNotAvail",
     "nodes that it needs are not to be had: down, drained, or reserved before its time limit ends",
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
     "its partition does not let this job in (its accounts, groups, QOS or size)",
     "submit to another --partition"},
    {"Reservation", "it waits for its reservation to begin or to have room"},
    {"ReservationDeleted",
     "its reservation was deleted",
     "submit it again without the reservation"},
    {"Licenses", "it waits for a licence that other jobs use"},
    {"SchedDefer", "it asked to start at once, and Slurm starts jobs later"},
    {"JobArrayTaskLimit", "as many tasks of its array run as may at once"},
    {"Cleaning", "what is left of its last run is still being cleaned up"},
    {"Prolog", "the prolog of its nodes still runs"},
    {"BlockMaxError", "its nodes are in an error state", k_ask},
    {"BlockFreeAction", "its nodes are still being freed"},
    {"BurstBufferResources", "it waits for room in the burst buffer"},
    {"BurstBufferStageIn", "its files are being copied into the burst buffer"},
    {"BurstBufferOperation", "the burst buffer failed", k_ask},
    {"PowerNotAvail", "it waits for electric power under the cluster's cap"},
    {"PowerReserved", "the power that it needs is reserved"},
    {"FedJobLock", "its federation has not agreed on a cluster yet"},
    {"DeadLine", "it cannot end before its deadline any more: it will never start"},
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
    {"NonZeroExitCode", "its batch script ended with an error"},
    {"TimeLimit", "its time limit was reached"},
    {"InactiveLimit", "it was inactive for longer than Slurm allows"},
    {"OutOfMemory", "it ran out of memory"},
};

// What a limit counts, by the word in its name; the longer name first.
constexpr std::array<std::pair<std::string_view, const char*>, 17> k_resources{{
    {"SubmitJob", "submitted jobs"},
    {"WallDuration", "run time"},
    {"Wall", "run time"},
    {"Jobs", "running jobs"},
    {"Billing", "billing units"},
    {"Licenses", "licences"},
    {"License", "licences"},
    {"Energy", "energy"},
    {"Memory", "memory"},
    {"Mem", "memory"},
    {"GRES", "GPUs (or other generic resources)"},
    {"Node", "nodes"},
    {"CPU", "CPUs"},
    {"Cpu", "CPUs"},
    {"BB", "burst buffer"},
    {"Unknown", "some resource"},
    {"Job", "jobs"},
}};

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

const char* resource_of(std::string_view limit) {
  for (const auto& [word, name] : k_resources)
    if (has(limit, word)) return name;
  return nullptr;
}

// The names of limits are made of parts: QOS|Assoc, Grp|Max|Min, a resource, [Run]Minutes,
// PerJob|PerNode|PerUser|PerAccount.
std::optional<ReasonWords> words_of_limit(std::string_view reason) {
  const bool qos = reason.starts_with("QOS");
  const bool account = reason.starts_with("Assoc");
  const std::string_view rest = reason.substr(qos ? 3 : account ? 5 : 0);
  const bool per_account = rest.starts_with("Max") && rest.ends_with("PerAccount");
  if (!qos && !account && !per_account) return std::nullopt;
  // "PerNode" and "PerJob" are no resources.
  const std::string_view limit = rest.substr(0, rest.find("Per"));
  const char* resource = resource_of(limit);
  if (resource == nullptr) return std::nullopt;
  const std::string counted =
      std::string(resource) + (has(limit, "Minutes") ? ", in minutes of use" : "");
  const char* owner = account ? "its account" : "its QOS";
  const char* wait = "wait for jobs under the same limit to end";
  if (rest.starts_with("Grp"))
    return ReasonWords{
        fmt::format("all jobs of {} together use as much as they may: {}", owner, counted), wait};
  if (per_account)
    return ReasonWords{
        fmt::format("the jobs of its account use as much as its QOS allows them: {}", counted),
        wait};
  if (rest.starts_with("Min"))
    return ReasonWords{
        fmt::format("it asks for less than {} demands of a job, and so will never start: {}",
                    owner,
                    counted),
        "dtsubmit cancel {job}, and submit it with more, or with another --qos"};
  if (!rest.starts_with("Max")) return std::nullopt;
  const bool of_user = has(rest, "PerUser") || has(limit, "Jobs") || has(limit, "SubmitJob");
  if (of_user)
    return ReasonWords{fmt::format("you use as much as {} allows one user: {}", owner, counted),
                       wait};
  return ReasonWords{
      fmt::format(
          "it asks for more than {} allows one job, and so will never start: {}", owner, counted),
      "dtsubmit cancel {job}, and submit it with less, or with another --qos or --account"};
}

ReasonWords words_of_failure(const JobInfo& job) {
  // slurmd's ESLURMD_IO: 0:53 (measured on 22.05; the batch script never ran).
  if (job.exit_signal == 53)
    return {
        "Slurm could not open its log file or enter its folder on the first node (exit code 0:53)",
        "see that the run directory is there, can be written, and is shared with the nodes"};
  if (job.exit_signal == 9)
    return {"its batch script, the agent, was killed (signal 9)",
            "dmesg on its first node shows whether the kernel killed it for lack of memory"};
  if (job.exit_signal != 0)
    return {fmt::format("its batch script, the agent, was ended by signal {}", job.exit_signal),
            ""};
  if (job.reason == "JobLaunchFailure")
    return {"Slurm could not launch its batch script on the first node",
            "sinfo -R and the node's slurmd log tell more"};
  if (job.exit_code == 127 || job.exit_code == 126)
    return {fmt::format("its batch script could not start dtsubmit (exit code {})", job.exit_code),
            "see that dtsubmit lies in the same place on the nodes"};
  if (job.exit_code == exit_code(Errc::io))
    return {fmt::format("its run directory vanished or could not be written (exit code {})",
                        job.exit_code),
            "see that the run directory is there, can be written, and is shared with the nodes"};
  return {fmt::format("its batch script ended with exit code {}", job.exit_code), ""};
}

}  // namespace

std::optional<ReasonWords> words_of_reason(std::string_view reason) {
  for (const Row& row : k_rows)
    if (row.reason == reason) return ReasonWords{row.why, row.advice};
  return words_of_limit(reason);
}

ReasonWords words_of_end(const JobInfo& job) {
  switch (job.state) {
    case JobState::completed:
      return {"its batch script exited 0", ""};
    case JobState::cancelled:
      return {"it was cancelled", ""};
    case JobState::timed_out:
      return {"its time limit was reached before the agent had ended", ""};
    case JobState::node_failed:
      return {"one of its nodes failed, and it was not requeued",
              "sinfo -R shows which nodes are down"};
    case JobState::preempted:
      return {"another job took its nodes, and it was not requeued", ""};
    case JobState::out_of_memory:
      return {"it used more memory than it had asked for",
              "submit it with a larger --mem, or make its program use less"};
    case JobState::failed:
      return words_of_failure(job);
    case JobState::pending:
    case JobState::running:
    case JobState::suspended:
    case JobState::unknown:
      break;
  }
  return {fmt::format("Slurm calls it {}", to_string(job.state)), ""};
}

}  // namespace dts::sched
