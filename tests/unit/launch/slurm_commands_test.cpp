// SPDX-License-Identifier: Apache-2.0
// What scontrol 22.05 prints about a job, in each state in which an agent asks.
#include "core/launch/job/slurm_commands.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dts;
using sched::JobState;

std::string line_of(const std::string& state,
                    const std::string& reason,
                    unsigned restarts,
                    const std::string& preempted) {
  return "JobId=12 JobName=a b UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901757 "
         "Nice=0 Account=(null) QOS=(null) JobState=" +
         state + " Reason=" + reason +
         " Dependency=(null) Requeue=1 Restarts=" + std::to_string(restarts) +
         " BatchFlag=1 Reboot=0 ExitCode=0:15 RunTime=00:00:09 TimeLimit=UNLIMITED TimeMin=N/A "
         "SubmitTime=2026-11-22T10:00:00 EligibleTime=2026-11-22T10:00:00 "
         "StartTime=2026-11-22T10:00:01 EndTime=2026-11-22T10:00:31 Deadline=N/A "
         "PreemptEligibleTime=2026-11-22T10:00:01 PreemptTime=" +
         preempted +
         " SuspendTime=None Partition=low AllocNode:Sid=h:1 ReqNodeList=(null) ExcNodeList=n[3-4] "
         "NodeList=n[0-1] BatchHost=n0 NumNodes=2 Comment=JobState=RUNNING Requeue=0\n";
}

}  // namespace

TEST_CASE("each state in which an agent asks is distinguished by scontrol's output") {
  struct Row {
    const char *what, *state, *reason;
    unsigned restarts;
    const char* preempted;
    JobState expected;
    bool completing;
  };

  const char* const now = "2026-11-22T10:00:20";
  for (const Row& row : {
           Row{"runs", "RUNNING", "None", 1, "None", JobState::running, false},
           {"grace began", "RUNNING", "None", 1, now, JobState::running, false},
           {"begins", "CONFIGURING", "None", 1, "None", JobState::running, false},
           {"put back", "PENDING", "BeginTime", 2, "None", JobState::pending, false},
           {"being put back", "COMPLETING", "None", 2, "None", JobState::pending, true},
           {"preempted", "COMPLETING", "None", 2, now, JobState::pending, true},
           {"preempted for good", "COMPLETING", "None", 1, now, JobState::preempted, true},
           {"cancelled", "COMPLETING", "None", 1, "None", JobState::cancelled, true},
           {"over its time", "COMPLETING", "TimeLimit", 1, "None", JobState::timed_out, true},
           {"of a later version", "DREAMING", "None", 1, "None", JobState::unknown, false},
       }) {
    CAPTURE(row.what);
    const auto job =
        launch::parse_job_line(line_of(row.state, row.reason, row.restarts, row.preempted), 1);
    REQUIRE(job);
    CHECK(job->id == sched::JobId(12));
    CHECK(sched::to_string(job->state) == std::string(sched::to_string(row.expected)));
    CHECK(job->completing == row.completing);
    CHECK((job->preempt_time != 0) == (row.preempted == std::string(now)));
    CHECK(job->end_time - job->start_time == 30);
    CHECK(job->nodes == "n[0-1]");
    CHECK(job->exclude_nodes == "n[3-4]");
    CHECK(job->requeue);
  }
}

TEST_CASE("text that describes no job is an error, not a job without a state") {
  for (const char* line : {"", "\n", "slurm_load_jobs error: Invalid job id specified", "JobId=x"})
    CHECK_FALSE(launch::parse_job_line(line, 0));
}

TEST_CASE("the lines of the configuration are read by name") {
  const auto config = launch::parse_config_lines(
      "Configuration data as of 2026-11-22T10:00:00\n"
      "BOOT_TIME               = 2026-11-22T09:00:00\n"
      "ClusterName             = small\n"
      "KillWait                = 30 sec\n"
      "ProctrackType           = proctrack/cgroup\n");
  CHECK(config.kill_wait_seconds == 30);
  CHECK_FALSE(config.signals_reach_programs);
  CHECK(launch::parse_config_lines("ProctrackType = proctrack/linuxproc\n").signals_reach_programs);
  CHECK(config.cluster_name == "small");
  CHECK(config.boot_time > 0);
  CHECK(launch::parse_config_lines("").kill_wait_seconds == 0);
}
