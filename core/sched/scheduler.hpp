// SPDX-License-Identifier: Apache-2.0
// The scheduler as we see it: our own types, no header of any scheduler.
#pragma once

#include "core/base/billing.hpp"
#include "core/base/job_id.hpp"
#include "core/base/memory_rules.hpp"
#include "core/base/result.hpp"
#include "core/sched/limits.hpp"
#include "core/sched/phrases.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::sched {

using dts::JobId;

enum class JobState {
  pending,
  running,
  suspended,
  completed,
  cancelled,
  failed,
  timed_out,
  node_failed,
  preempted,
  out_of_memory,
  unknown,
};

// "pending", "timed_out", ...: the enumerator's name, which is also its form in JSON.
[[nodiscard]] const char* to_string(JobState state);
// The inverse of to_string; `unknown` for any other word.
[[nodiscard]] JobState job_state_of(std::string_view word);
// True if the job has ended: it will not run again unless it is requeued.
[[nodiscard]] bool is_terminal(JobState state);

// What a pending job waits for, as far as our messages depend on it.
enum class Wait {
  other,
  nodes,  // to become free
  time,   // eligible_time
};

// One job as the controller sees it now. Times are Unix seconds, 0 if unset.
struct JobInfo {
  JobId id{};
  JobId array{};      // in a job array: the id of the whole array
  std::string tasks;  // the indices, "3-9", if the record stands for several waiting jobs of an
                      // array, whose id it then has
  JobState state = JobState::unknown;
  bool completing = false;  // processes of its current or last run are still ending
  bool preparing = false;   // it runs for the scheduler, but its nodes are not ready for its script
  std::string reason;       // why it is pending or failed, the scheduler's own term; empty: none
  std::string explanation;  // `reason`, or how it ended: a clause without a full stop, or empty
  std::string advice;       // what the user can do about it; empty: nothing
  Wait wait = Wait::other;  // only while pending
  std::string description;  // more about `wait` in the scheduler's own words, if any
  std::string partition;    // in which it runs, or all that it waits for
  std::string dependency;   // what is still unfulfilled: "afterok:12(unfulfilled)"
  std::string nodes;        // host list; empty while pending
  std::vector<std::string> cpus;  // of each of these, by the scheduler's numbers; empty: unknown
  std::string exclude_nodes;      // host list of nodes to avoid
  std::uint32_t restart_count = 0;
  bool requeue = false;
  std::int64_t eligible_time = 0;  // it does not start earlier
  std::int64_t start_time = 0;     // while pending: when the scheduler expects to start it
  std::int64_t end_time = 0;       // the current deadline while running
  bool unlimited = false;          // no time limit; then end_time is meaningless
  bool ends_unwarned = false;      // at end_time, before its time limit and without its signal
  bool end_unsure = false;         // the scheduler could not say now whether it ends so
  std::int64_t preempt_time = 0;   // set once preemption has begun
  int exit_code = 0;               // the batch script's exit code
  int exit_signal = 0;             // the signal that ended it
  bool accounted = false;          // known only from accounting, as the scheduler has forgotten it
  bool files_unusable = false;     // its log could not be opened, so its script never ran
  // The job's Submission::script_path; empty: it has no script; nullopt: not known.
  std::optional<std::string> script_path{};
};

// True if its script has not begun: it is pending, or its nodes are being prepared.
[[nodiscard]] bool waits(const JobInfo& job);

struct NodeInfo {
  std::string name;
  std::string address;              // NodeAddr: the address that other nodes can connect to
  std::uint32_t port = 0;           // its daemon's port; 0: unknown
  std::string state;                // in the scheduler's own terms
  bool away = false;                // accepts no jobs now
  bool lost = false;                // down or silent: what ran there has ended or cannot be reached
  bool powered_down = false;        // it takes jobs, which wait until it has been powered up
  std::uint32_t cpus = 0;           // all of them, in the scheduler's numbering
  std::uint32_t reserved_cpus = 0;  // of these, for the system: no job gets them
  std::uint32_t cpus_per_core = 1;  // at least 1
  std::uint32_t gpus = 0;
  std::map<std::string, std::uint32_t> gpu_types{};  // those whose type the site names
  std::uint64_t memory_mib = 0;
};

// What happens to a preempted job.
enum class Preemption { none, requeue, cancel, suspend };

// "none", "requeue", ...; none for any other word.
[[nodiscard]] const char* to_string(Preemption preemption);
[[nodiscard]] Preemption preemption_of(std::string_view word);

struct PartitionInfo {
  std::string name;
  bool is_default = false;
  bool up = true;
  std::string nodes;                      // host list
  std::int64_t max_time_seconds = 0;      // -1: unlimited
  std::int64_t default_time_seconds = 0;  // of a job that requests none; 0: none, or not known
  std::int64_t grace_seconds = 0;
  Preemption preemption = Preemption::none;
  bool gives_whole_nodes = false;  // to every job, whatever it requests
  // Of a job; 0: no limit.
  std::uint32_t min_nodes = 0;
  std::uint32_t max_nodes = 0;
  std::uint32_t max_cpus_per_node = 0;
  std::uint64_t max_memory_mib = 0;     // of each node
  std::optional<MemoryRules> memory{};  // absent: not known
  std::uint32_t cpus_per_gpu = 0;       // of a job that requests no number of CPUs; 0: no default
  std::optional<BillingWeights> billing{};  // absent: processors are billed
};

// A quality of service, which gives its jobs their own limits and preemption.
struct QosInfo {
  std::string name;
  bool is_default = false;                     // for this user's jobs without a QOS
  std::vector<std::string> preempts;           // names of QOS whose jobs its jobs may preempt
  std::optional<Preemption> preemption;        // of its jobs; nullopt: the cluster's
  std::int64_t grace_seconds = 0;              // for a preempted job
  std::optional<std::int64_t> exempt_seconds;  // protected run time; nullopt: the cluster's
  std::int64_t max_time_seconds = -1;          // of a job; -1: no limit
  bool refuses_excess = false;  // refuses jobs above a limit, which otherwise wait for ever
};

// Exit codes of batch scripts to which the site has given a meaning of its own.
struct ClaimedExits {
  std::string setting;  // its name in the scheduler's configuration
  std::string codes;    // "85,90-99"
};

struct ConfigInfo {
  std::string version;  // "22.05.8"
  std::string cluster_name;
  std::vector<ClaimedExits> claimed_exits;
  // Whether the scheduler's signals reach every process of a step, not only its direct children.
  bool signals_reach_programs = false;
  std::uint32_t kill_wait_seconds = 0;
  std::uint32_t power_up_seconds = 0;  // a node is powered up within this time; 0: not known
  std::uint32_t max_array_size = 0;    // exclusive upper bound of array indices; 0: not known
  std::uint32_t max_step_ranks_per_node = 0;  // that its own launcher starts; 0: not known
  bool one_rank_per_core = false;             // unless a job asks for more
  // Whether a batch script that ends while its job is being preempted is started again, whatever
  // its exit code, unless that is forbidden first.
  bool restarts_ended_jobs = false;
  std::int64_t boot_time = 0;  // when the controller last started, Unix seconds; 0: not known
  BillingRule billing_rule = BillingRule::sum;
};

// All settings of a site, in the scheduler's spelling: {"KillWait", "30 sec"}.
using Settings = std::map<std::string, std::string, std::less<>>;

// The setting that gives an exit code a meaning; nullptr: none.
[[nodiscard]] const ClaimedExits* claimed_by(const ConfigInfo& config, unsigned code);

// A batch job. The script's #SBATCH lines are rendered from these fields, but the scheduler reads
// the fields themselves, so the request is never parsed back. Empty or absent means "not
// requested": the scheduler's own default applies.
struct Submission {
  std::string script;       // the whole text of the batch script
  std::string script_path;  // where that text is stored; shown to users as the job's command
  std::vector<std::string> environment;  // "NAME=value", already scrubbed
  std::string work_folder;               // absolute
  std::string job_name;
  std::string partition;
  // Options of sbatch, passed on unchanged, by long name: {"account", "proj-1"}, {"exclusive", ""}.
  std::map<std::string, std::string> options;
  // Likewise, but for this job only. Not written to the script, which the jobs that continue its
  // run share: {"dependency", "afterok:12"}.
  std::map<std::string, std::string> once;
  std::string exclude_nodes;  // host list
  std::string output;         // file pattern, "%j" is the job id; also receives standard error
  bool append_output = true;  // so that a requeued job does not truncate its earlier output
  std::uint32_t nodes = 1;
  std::uint32_t ntasks_per_node = 1;
  std::optional<std::uint32_t> cpus_per_task;
  std::uint32_t gpus_per_node = 0;
  std::string gpu_type;                     // type of all GPUs by the site's name; empty: any
  std::optional<std::uint64_t> memory_mib;  // per node; 0 is all of it
  std::optional<std::chrono::seconds> time_limit;  // rounded up to minutes; max(): unlimited
  std::optional<bool> requeue;
  bool no_kill = false;                         // the job continues if it loses a node
  std::optional<std::int64_t> continues_after;  // a run whose earlier job ends by then; 0: now
  int warn_signal = 0;             // sent to the batch script only (--signal=B:); 0: none
  std::uint32_t warn_seconds = 0;  // at least this long before the time limit
  // The components of a heterogeneous job, beginning with this one. The others have no script,
  // files or environment of their own.
  std::vector<Submission> components;
};

// When and where a job would start if it were submitted now.
struct Expected {
  std::int64_t start_time = 0;   // Unix seconds; 0: what it would wait for has no foreseeable end
  std::string nodes;             // host list; empty: not known
  std::uint32_t processors = 0;  // that it would get; 0: not known
  std::string partition;         // empty: not known
  std::vector<JobId> preempted;  // jobs that would have to give up their nodes
};

// A job of any user that waits, or has nodes now.
struct QueuedJob {
  JobId id{};
  bool waits = false;
  std::string partition;      // in which it runs, or all that it waits for
  std::string nodes;          // host list; empty while it waits
  std::int64_t end_time = 0;  // its deadline, Unix seconds; 0: none, or it waits
};

// How a scheduler is reached, for users.
struct Access {
  std::string plugin;   // "slurm-commands"
  std::string words;    // "Slurm 22.05.8 through its commands (/usr/bin/scontrol)"
  std::string instead;  // why this is not the preferred way; empty: it is, or was requested
};

// "WORDS: INSTEAD".
[[nodiscard]] std::string to_text(const Access& way);

// The answer of a scheduler that lacks an operation.
[[nodiscard]] tl::unexpected<Error> cannot_tell();

// Thread-safe unless a subclass says otherwise. Calls block until the scheduler answers, at most
// about 15 s if the controller is down; never call them on a thread that must handle signals.
// Errors: unreachable, rejected (the message quotes the scheduler verbatim), not_found.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  [[nodiscard]] virtual Phrases phrases() const { return {}; }

  // May ask the scheduler's own programs for their version.
  [[nodiscard]] virtual Access access() const { return {}; }

  [[nodiscard]] virtual Result<JobId> submit(const Submission& submission) = 0;

  // Predicts the start of a job without submitting it. `rejected`: as the site is now, the job can
  // never start. `invalid`: the scheduler cannot predict.
  [[nodiscard]] virtual Result<Expected> expect(const Submission&) { return cannot_tell(); }

  [[nodiscard]] virtual Result<JobInfo> job(JobId id) = 0;

  // All jobs that wait or run. `invalid`: see expect().
  [[nodiscard]] virtual Result<std::vector<QueuedJob>> queue() { return cannot_tell(); }

  [[nodiscard]] virtual Result<std::vector<NodeInfo>> nodes() = 0;
  [[nodiscard]] virtual Result<std::vector<PartitionInfo>> partitions() = 0;
  [[nodiscard]] virtual Result<ConfigInfo> config() = 0;

  // Takes longer than config(). A scheduler need not report any settings.
  [[nodiscard]] virtual Result<Settings> settings() { return Settings{}; }

  // The QOS for jobs of this user and `account` (empty: the user's default), from the accounting.
  // Empty if the scheduler has none.
  [[nodiscard]] virtual Result<std::vector<QosInfo>> qos(const std::string& /*account*/) {
    return std::vector<QosInfo>{};
  }

  // The limits of a job with this account and QOS; empty: the default one. A limit is not reported
  // if a job beyond it might start, or if that cannot be found out within seconds.
  [[nodiscard]] virtual Result<SiteLimits> limits(const std::string& /*account*/,
                                                  const std::string& /*qos*/) {
    return SiteLimits{};
  }

  // Sends SIGTERM, then SIGKILL after KillWait; removes a pending job. It is no error if the job
  // has already ended.
  [[nodiscard]] virtual Result<void> cancel(JobId id) = 0;
  // Requeues it under the same id. `rejected`: it may not be. It is no error if it already waits.
  [[nodiscard]] virtual Result<void> requeue(JobId id) = 0;
  // Ensures that the job is not started again once it has ended, for whatever reason.
  [[nodiscard]] virtual Result<void> forbid_requeue(JobId id) = 0;
  // Keeps a waiting job off these nodes (a host list), in addition to those it already excludes.
  [[nodiscard]] virtual Result<void> exclude(JobId id, const std::string& nodes) = 0;
  // Sends `signal` to the batch script only.
  [[nodiscard]] virtual Result<void> signal_batch(JobId id, int signal) = 0;
};

}  // namespace dts::sched
