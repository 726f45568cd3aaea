// SPDX-License-Identifier: Apache-2.0
// Slurm's reasons and records as sentences.
#include "plugins/slurm_shared/job_words.hpp"

#include "plugins/slurm_shared/job_reply.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace slurm_plugin;

struct Case {
  const char* reason;
  const char* why;     // part of the explanation
  const char* advice;  // part of the advice; empty: there is none
};

// One reason of each kind. unit_slurm_plugin checks that every reason in Slurm's header has a
// sentence.
constexpr Case k_pending[] = {
    {"Resources", "is next, and waits for nodes to become free", "shorter --time"},
    {"Priority", "higher priority", "fewer --nodes"},
    {"Dependency", "waits for another job", ""},
    {"DependencyNeverSatisfied", "will never start", "Dependency="},
    {"ReqNodeNotAvail", "down, drained, or reserved", "sinfo -R"},
    {"PartitionTimeLimit", "time limit is longer than its partition allows", "shorter --time"},
    {"PartitionNodeLimit", "more nodes than its partition", "fewer --nodes"},
    {"PartitionDown", "partition is down", "another --partition"},
    {"JobHeldUser", "held", "scontrol release {job}"},
    {"JobHeldAdmin", "administrator holds it", "administrators"},
    {"BeginTime", "not start before its begin time", ""},
    {"BadConstraints", "never start", "--gpus-per-node"},
    {"JobLaunchFailure", "could not launch", "scontrol release {job}"},
    {"QOSMaxNodePerUserLimit", "you would use more than its QOS allows one user: nodes", "wait"},
    {"QOSMaxJobsPerUserLimit",
     "you would use more than its QOS allows one user: running jobs",
     "wait"},
    {"QOSGrpCPURunMinutesLimit",
     "all jobs of its QOS together would use more than they may: CPUs, in minutes of use",
     "wait"},
    {"QOSMaxWallDurationPerJobLimit",
     "more than its QOS allows one job, and so will never start: run time",
     "another --qos"},
    {"QOSMinGRES",
     "less than its QOS demands of a job, and so will never start: GPUs",
     "with more"},
    {"AssocGrpGRES", "all jobs of its account together would use more than they may: GPUs", "wait"},
    {"AssocMaxJobsLimit",
     "you would use more than its account allows one user: running jobs",
     "wait"},
    {"AssocMaxMemPerNode",
     "more than its account allows one job, and so will never start: memory",
     "with less"},
    {"MaxGRESPerAccount",
     "the jobs of its account would use more than its QOS allows them: GPUs",
     "wait"},
};

struct Ending {
  JobRecord job;
  const char* why;
  const char* advice;
};

JobRecord ended(const char* state, const char* reason, int code, int signal) {
  return {.state = state, .reason = reason, .exit_code = code, .exit_signal = signal};
}

JobRecord on_n7(JobRecord job) {
  job.first_node = "n7";
  return job;
}

}  // namespace

TEST_CASE("a reason to wait says what is waited for and what can be done") {
  for (const Case& one : k_pending) {
    CAPTURE(one.reason);
    const auto words = words_of_reason(one.reason);
    REQUIRE(words.has_value());
    CAPTURE(words->why);
    CAPTURE(words->advice);
    CHECK(words->why.find(one.why) != std::string::npos);
    CHECK(words->advice.find(one.advice) != std::string::npos);
    CHECK((*one.advice == '\0') == words->advice.empty());
  }
}

TEST_CASE("a reason of a later release has no words of ours") {
  for (const char* reason :
       {"", "Reason200", "QOS", "AssocMax", "MaxPerAccount", "QOSLimit", "resources"})
    CHECK_FALSE(words_of_reason(reason).has_value());
}

TEST_CASE("the record of a job that ended says what that usually means") {
  const Ending ends[] = {
      {ended("failed", "JobLaunchFailure", 0, 53), "could not open its log file", "run directory"},
      {ended("failed", "JobLaunchFailure", 0, 9), "was killed (signal 9)", "lack of memory"},
      {ended("failed", "RaisedSignal", 0, 11), "ended by signal 11", ""},
      {ended("failed", "JobLaunchFailure", 1, 0), "could not launch", "slurmd log"},
      {ended("failed", "NonZeroExitCode", 127, 0), "could not start dtsubmit", "same path"},
      {on_n7(ended("failed", "NonZeroExitCode", 127, 0)), "on n7, the first", "--exclude n7"},
      {on_n7(ended("failed", "JobLaunchFailure", 0, 53)), "on n7, the first", "--exclude n7"},
      {on_n7(ended("failed", "JobLaunchFailure", 1, 0)), "script on n7", "slurmd log"},
      {ended("failed", "NonZeroExitCode", 74, 0),
       "vanished or could not be written (exit code 74)",
       "exists"},
      {ended("failed", "NonZeroExitCode", 3, 0), "ended with exit code 3", ""},
      {ended("node_failed", "NodeDown", 0, 0), "one of its nodes failed", "sinfo -R"},
      {ended("out_of_memory", "OutOfMemory", 0, 125), "more memory than", "--mem"},
      {ended("timed_out", "TimeLimit", 0, 0), "time limit was reached", ""},
      {ended("preempted", "None", 0, 0), "took its nodes", ""},
      {ended("cancelled", "None", 0, 0), "was cancelled", ""},
      {ended("completed", "None", 0, 0), "exited 0", ""},
      {ended("unknown", "None", 0, 0), "Slurm calls it unknown", ""},
  };
  for (const Ending& end : ends) {
    CAPTURE(end.job.state);
    CAPTURE(end.job.exit_signal);
    const JobWords words = words_of(end.job);
    CAPTURE(words.why);
    CAPTURE(words.advice);
    CHECK(words.why.find(end.why) != std::string::npos);
    CHECK(words.advice.find(end.advice) != std::string::npos);
    CHECK((*end.advice == '\0') == words.advice.empty());
  }
}

TEST_CASE("a waiting job is described by more than its reason") {
  JobRecord job{.state = "pending", .reason = "BeginTime"};
  CHECK(words_of(job).why == "it was submitted to begin later");
  job.was_requeued = true;
  CHECK(words_of(job).why.find("cred_expire") != std::string::npos);
  job = {.state = "pending", .reason = "JobHeldUser", .description = "launch failed requeued held"};
  CHECK(words_of(job).why.find("could not launch it") != std::string::npos);
  job = {.state = "pending",
         .reason = "Reservation",
         .description = "ReqNodeNotAvail, Reserved for maintenance"};
  CHECK(words_of(job).why.find("unavailable") != std::string::npos);
  CHECK(words_of(job).advice.find("shorter --time") != std::string::npos);
  job = {.state = "pending", .reason = "Resources", .description = "Nodes required are DOWN"};
  CHECK(words_of(job).advice == k_nodes_away);
  job = {.state = "pending", .reason = "Resources", .asks_for_switches = true};
  CHECK(words_of(job).why.find("--switches") != std::string::npos);
  job = {.state = "pending", .reason = "Reason200"};
  CHECK(words_of(job).why.empty());
  CHECK(words_of({.state = "running"}).why.empty());
}

TEST_CASE("what a job waits for, and whether its expected start means anything") {
  CHECK(waits_for("Resources") == "nodes");
  CHECK(waits_for("ReqNodeNotAvail") == "nodes");
  CHECK(waits_for("BeginTime") == "time");
  CHECK(waits_for("JobHeldUser").empty());
  CHECK(has_planned_start("Priority"));
  CHECK_FALSE(has_planned_start("ReqNodeNotAvail"));
  constexpr std::int64_t k_day = 24 * 3600;
  const std::int64_t now = 1'795'888'619;
  CHECK_FALSE(is_a_guess(now + 30 * k_day, now));
  CHECK(is_a_guess(now + 365 * k_day - 20, now));  // after a job without a limit
  CHECK(has_no_limit(now, now + 365 * k_day, 0));
  CHECK(has_no_limit(now, now + 365 * k_day, 365 * k_day));
  CHECK_FALSE(has_no_limit(now, now + 400 * k_day, 400 * k_day));
  CHECK_FALSE(has_no_limit(now, now + k_day, k_day));
}
