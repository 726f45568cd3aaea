// SPDX-License-Identifier: Apache-2.0
// Reading the output of scontrol: recorded on 22.05.8 (records/), and in the forms of later
// releases.
#include "core/base/files/files.hpp"
#include "plugins/slurm_commands/node_record.hpp"
#include "plugins/slurm_shared/config_reply.hpp"
#include "plugins/slurm_shared/job_record.hpp"
#include "plugins/slurm_shared/job_words.hpp"
#include "tests/support/source_dir.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

using namespace slurm_plugin;

namespace {

std::string recorded(const std::string& name) {
  const auto text =
      dts::read_file(dts::tests::in_source("tests/contract/records/" + std::string(name)));
  REQUIRE_MESSAGE(text.has_value(), name);
  return *text;
}

// The recorded job with this name.
Record job_named(const char* text) {
  const JobName name = parse_job_name(text).value();
  for (const Record& job : parse_records(recorded("jobs-22.05.txt")))
    if (is_of(job, name)) return job;
  FAIL(text);
  return {};
}

Record record(const std::string& text) {
  const auto records = parse_records(text);
  REQUIRE(records.size() == 1);
  return records.front();
}

// A job that is ending, in the form of scontrol 22.05.
struct Completing {
  const char* what;
  const char* reason;
  int restarts;
  const char* exit;
  const char* end;
  const char* preempted;
  const char* expected;  // of somebody else's job, 60 s or more before `end` if that is ahead
  const char* own;       // for the job in which the query is made, which has one restart
};

constexpr std::int64_t k_now = 1'000'000;

Record ending(const Completing& row) {
  return record(std::string("JobId=12 JobName=x\n   JobState=COMPLETING Reason=") + row.reason +
                " Dependency=(null)\n   Requeue=1 Restarts=" + std::to_string(row.restarts) +
                " ExitCode=" + row.exit + "\n   StartTime=999000 EndTime=" + row.end +
                " Deadline=N/A\n   PreemptEligibleTime=999000 PreemptTime=" + row.preempted + "\n");
}

}  // namespace

TEST_CASE("texts that users choose are read whole, and never as other fields") {
  const json job = job_json(job_named("850018"), "running");
  CHECK(job["id"] == "850018");
  CHECK(job["array"] == "");
  CHECK(job["state"] == "running");
  CHECK(job["exclude_nodes"] == "");
  CHECK(job["requeue"] == true);
  CHECK(job["nodes"] == "n[0-1]");
  CHECK(job["cpus"] == json({"0-1", "0-1"}));
  CHECK(job["unlimited"] == true);
  CHECK(job["start_time"] > 1'700'000'000);
  const Record record = job_named("850018");
  CHECK(record.text("JobName") == "a b=c JobState=FAILED");
  CHECK(record.text("Command") == "/home/u/run/s.sh arg 1 ExcNodeList=n9");
  CHECK(record.text("Comment") == "x=1 y  Requeue=0");
  CHECK(state_of(record, {}) == "running");
}

TEST_CASE("a time limit of more than a year is one, and no sign of a job without") {
  const auto is_unlimited = [](const char* limit, const char* end) {
    return job_json(record(std::string("JobId=3 JobName=j\n   JobState=RUNNING TimeLimit=") +
                           limit + "\n   StartTime=1796000000 EndTime=" + end + "\n"),
                    "running")["unlimited"] == true;
  };
  CHECK_FALSE(is_unlimited("400-00:00:00", "1830560000"));
  CHECK(is_unlimited("365-00:00:00", "1827536000"));  // from the backfill scheduler
  CHECK(is_unlimited("Partition_Limit", "1827536000"));
  CHECK(is_unlimited("UNLIMITED", "Unknown"));
}

TEST_CASE("an array's waiting tasks are one record, each of its others has its own") {
  const json waiting = job_json(job_named("850019_37"), "pending");
  CHECK(waiting["id"] == "850019");
  CHECK(waiting["array"] == "850019");
  CHECK(waiting["tasks"] == "7-40:3");
  CHECK(waiting["reason"] == "JobArrayTaskLimit");
  CHECK(waiting["start_time"] == 0);
  const json running = job_json(job_named("850019_4"), "running");
  CHECK(running["id"] == "850019_4");
  CHECK(running["array"] == "850019");
  CHECK(running["tasks"] == "");
  CHECK(running["cpus"] == json({"3"}));
  CHECK(job_json(job_named("850019"), "pending")["tasks"] == "7-40:3");
  const auto jobs = parse_records(recorded("jobs-22.05.txt"));
  for (const char* none : {"850019_2", "850019_38", "850019_43", "850018_1", "4711"})
    for (const Record& job : jobs) CHECK_FALSE(is_of(job, parse_job_name(none).value()));
}

TEST_CASE("components, waiting and ended jobs are what they were recorded as") {
  CHECK(job_json(job_named("850020+1"), "running")["id"] == "850021");
  CHECK(job_json(job_named("850020+0"), "running")["id"] == "850020");
  const json next = job_json(job_named("850022"), "pending");
  CHECK(next["waits_for"] == "nodes");
  CHECK(next["explanation"].get<std::string>().find("waits for nodes") != std::string::npos);
  const json held = job_json(job_named("850023"), "pending");
  CHECK(held["reason"] == "JobHeldUser");
  CHECK(held["dependency"] == "afterok:850018(unfulfilled)");
  CHECK(held["exclude_nodes"] == "n1");
  const Record failed = job_named("850024");
  CHECK(state_of(failed, {}) == "failed");
  const json ended = job_json(failed, "failed");
  CHECK(ended["exit_code"] == 85);
  CHECK(ended["exit_signal"] == 0);
  CHECK(ended["unlimited"] == false);
  const json lost =
      job_json(record("JobId=3 JobName=j\n   JobState=FAILED Reason=NonZeroExitCode\n   Restarts=0 "
                      "ExitCode=127:0\n   BatchHost=n7\n"),
               "failed");
  CHECK(lost["explanation"].get<std::string>().find("on n7, the first node") != std::string::npos);
}

TEST_CASE("a requeued job whose last run still ends on its nodes waits for that") {
  const json job = job_json(record("JobId=3 JobName=j\n   JobState=COMPLETING Reason=None\n   "
                                   "Requeue=1 Restarts=1\n"),
                            "pending");
  CHECK(job["explanation"].get<std::string>().find("the Epilog are still finishing") !=
        std::string::npos);
}

TEST_CASE("a job that is ending is what its other fields reveal, or not known yet") {
  const char* const later = "1000200";
  const char* const past = "999990";
  for (const Completing& row : {
           Completing{"ended by itself", "None", 1, "0:0", past, "None", "", "cancelled"},
           {"failed", "NonZeroExitCode", 1, "85:0", past, "None", "failed", "failed"},
           {"killed", "JobLaunchFailure", 1, "0:9", past, "None", "failed", "failed"},
           {"cancelled", "None", 1, "0:15", past, "None", "cancelled", "cancelled"},
           {"just cancelled", "None", 1, "0:0", past, "None", "", "cancelled"},
           {"being put back", "None", 2, "0:0", later, "None", "pending", "pending"},
           {"put back, unlimited", "None", 2, "0:0", "Unknown", "None", "pending", "pending"},
           {"preempted", "None", 2, "0:0", later, past, "pending", "pending"},
           {"preempted for good", "None", 1, "0:0", past, past, "preempted", "preempted"},
           {"over its time", "TimeLimit", 1, "0:1", past, "None", "timed_out", "timed_out"},
           {"a node failed", "NodeDown", 1, "0:0", past, "None", "node_failed", "node_failed"},
           {"out of memory",
            "OutOfMemory",
            1,
            "0:125",
            past,
            "None",
            "out_of_memory",
            "out_of_memory"},
           {"24.11's killed", "RaisedSignal:9(Killed)", 1, "0:9", past, "None", "failed", "failed"},
       }) {
    CAPTURE(row.what);
    const Record job = ending(row);
    CHECK(state_of(job, {k_now, std::nullopt}).value_or("") == row.expected);
    CHECK(state_of(job, {k_now, 1}).value_or("") == row.own);
    CHECK(job_json(job, "x")["completing"] == true);
  }
}

TEST_CASE("a job that the gang scheduler cancels reads in its own log that it was preempted") {
  const Record job = ending({"cancelled", "None", 1, "0:0", "999990", "None", "", "cancelled"});
  const auto own = [&](const std::string& log) {
    return state_of(job, {.now = k_now, .restarts = 1, .log = log}).value_or("");
  };
  const auto at = [](const std::string& time, const std::string& why) {
    return "slurmstepd-n0: error: *** JOB 12 ON n0 CANCELLED AT " + time + why + " ***\n";
  };
  CHECK(own("x\n" + at("999990", " DUE TO PREEMPTION") + "y\n") == "preempted");
  CHECK(own(at("990000", " DUE TO PREEMPTION")) == "cancelled");  // in an earlier run
  CHECK(own(at("990000", " DUE TO PREEMPTION") + at("999990", "")) == "cancelled");
  CHECK(own(at("1000900", " DUE TO PREEMPTION")) == "cancelled");  // printed in another time zone
  CHECK(own(at("999990", "")) == "cancelled");
  CHECK(own(at("999990", " DUE TO TIME LIMIT")) == "cancelled");
  CHECK(own(" DUE TO PREEMPTION ***") == "cancelled");
  const auto others = state_of(job, {.now = k_now, .restarts = std::nullopt});
  CHECK(others == std::nullopt);
}

TEST_CASE("every state that squeue(1) lists has a word, and any other is unknown") {
  CHECK(state_word("PENDING") == "pending");
  CHECK(state_word("CONFIGURING") == "running");
  CHECK(state_word("REQUEUE_HOLD") == "pending");
  CHECK(state_word("SPECIAL_EXIT") == "pending");
  CHECK(state_word("CANCELLED by 1000") == "cancelled");
  CHECK(state_word("TIMEOUT") == "timed_out");
  CHECK(state_word("OUT_OF_MEMORY") == "out_of_memory");
  CHECK(state_word("DREAMING") == "unknown");
  CHECK(state_word("") == "unknown");
}

TEST_CASE("a reason is a word, and its text is for people") {
  const auto is = [](const char* printed, const char* word, const char* description) {
    CAPTURE(printed);
    const Reason reason = reason_of(printed);
    CHECK(reason.word == word);
    CHECK(reason.description == description);
  };
  is("None", "", "");
  is("", "", "");
  is("Resources", "Resources", "");
  is("ReqNodeNotAvail,_UnavailableNodes:n1",
     "ReqNodeNotAvail",
     "ReqNodeNotAvail, UnavailableNodes:n1");
  is("Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions",
     "Resources",
     "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions");
  is("launch_failed_requeued_held", "JobHeldUser", "launch failed requeued held");
  is("Job's_account_not_permitted_to_use_this_partition_(p_allows_a_not_b)",
     "AccountNotAllowed",
     "Job's account not permitted to use this partition (p allows a not b)");
  is("Job's_QOS_not_permitted_to_use_this_partition_(p_denies_q_including_q)",
     "QOSNotAllowed",
     "Job's QOS not permitted to use this partition (p denies q including q)");
  is("Job_is_at_or_exceeds_QOS_q's_group_wall_limit_of_5_with_6",
     "TimeLimit",
     "Job is at or exceeds QOS q's group wall limit of 5 with 6");
  is("Reservation_r_was_deleted", "ReservationDeleted", "Reservation r was deleted");
  is("Reservation", "Reservation", "");
  is("RaisedSignal:9(Killed)", "RaisedSignal", "RaisedSignal:9(Killed)");
  CHECK(words_of({.state = "pending",
                  .reason = reason_of("launch_failed_requeued_held").word,
                  .description = "launch failed requeued held"})
            .why.find("could not launch it") != std::string::npos);
}

TEST_CASE("a preemption's time shows while the job runs on") {
  const json job =
      job_json(record("JobId=3 JobName=j\n   JobState=RUNNING Reason=None\n"
                      "   StartTime=100 EndTime=500 Deadline=N/A\n   PreemptTime=480\n"),
               "running");
  CHECK(job["preempt_time"] == 480);
  CHECK(job["end_time"] == 500);
}

TEST_CASE("times are Unix seconds, or local time where SLURM_TIME_FORMAT is not heeded") {
  const Record job =
      record("JobId=3 StartTime=2026-11-22T10:00:00 EndTime=Unknown\n   X=N/A Y=17\n");
  CHECK(job.time("Y") == 17);
  CHECK(job.time("EndTime") == 0);
  CHECK(job.time("X") == 0);
  CHECK(job.time("absent") == 0);
  const std::time_t start = job.time("StartTime");
  CHECK(std::localtime(&start)->tm_hour == 10);
}

TEST_CASE("text that describes no job gives no record, and half a record no crash") {
  for (const char* text : {"", "\n\n", "slurm_load_jobs error: Invalid job id specified\n", "=\n"})
    CHECK(parse_records(text).empty());
  for (const char* text :
       {"JobId=", "JobId=12 JobName", "JobId=x JobState", "JobId=1\n ==\n a b"}) {
    const json job = job_json(record(text), "unknown");
    CHECK(job["state"] == "unknown");
    CHECK(job["exit_code"] == 0);
  }
  CHECK(record("JobId=1\n   Comment=two\nlines JobState=X\n").text("Comment") ==
        "two\nlines JobState=X");
}

TEST_CASE("nodes and their states are read as sinfo would put them") {
  const auto nodes = parse_records(recorded("nodes-22.05.txt"));
  REQUIRE(nodes.size() == 2);
  const json first = node_json(nodes[0]);
  CHECK(first["name"] == "n0");
  CHECK(first["address"] == "127.71.187.2");
  CHECK(first["port"] == 25526);
  CHECK(first["state"] == "mixed");
  CHECK(first["cpus"] == 16);
  CHECK(first["reserved_cpus"] == 0);
  CHECK(first["cpus_per_core"] == 1);
  const json threaded = node_json(
      record("NodeName=n0 CoresPerSocket=8\n   CPUAlloc=0 CPUEfctv=14 CPUTot=16\n   Sockets=1\n"));
  CHECK(threaded["cpus"] == 16);
  CHECK(threaded["reserved_cpus"] == 2);
  CHECK(threaded["cpus_per_core"] == 2);
  CHECK(first["gpus"] == 8);
  CHECK(first["memory_mib"] == 12052);
  CHECK(node_json(record("NodeName=n0 RealMemory=9000\n   MemSpecLimit=1000\n"))["memory_mib"] ==
        8000);
  CHECK(first["away"] == false);
  const json second = node_json(nodes[1]);
  CHECK(second["state"] == "draining");
  CHECK(second["away"] == true);
  CHECK(second["lost"] == false);
  CHECK(node_word("IDLE") == "idle");
  CHECK(node_word("IDLE*") == "idle*");
  CHECK(node_word("IDLE+PLANNED") == "idle");
  CHECK(node_word("IDLE+DRAIN") == "drained");
  CHECK(node_word("ALLOCATED+COMPLETING") == "completing");
  CHECK(node_word("ALLOCATED+DRAIN") == "draining");
  CHECK(node_word("DOWN*+DRAIN") == "drained*");
  CHECK(node_word("DOWN+NOT_RESPONDING") == "down*");
  CHECK(node_word("IDLE+MAINTENANCE+RESERVED") == "maint");
  CHECK(node_word("IDLE+INVALID_REG") == "inval");
  CHECK(node_word("IDLE+CLOUD+POWERED_DOWN") == "idle~");
  CHECK(node_word("MIXED+CLOUD+NOT_RESPONDING+POWERING_UP") == "mixed#");
  CHECK(node_word("IDLE+CLOUD+POWERING_DOWN") == "idle%");
  CHECK(node_word("IDLE+CLOUD+POWER_DOWN") == "idle!");
  CHECK(node_word("ALLOCATED+CLOUD+POWER_DOWN+NOT_RESPONDING") == "allocated*");
  CHECK(node_word("DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING") == "down~");
  CHECK(node_word("") == "unknown");
}

TEST_CASE("a node without power takes jobs, unless it is down or drained") {
  struct Case {
    const char* printed;
    bool away;
    bool lost;
  };

  for (const Case& one : {Case{"IDLE+CLOUD+POWERED_DOWN", false, true},
                          {"MIXED+CLOUD+NOT_RESPONDING+POWERING_UP", false, false},
                          {"IDLE+CLOUD+POWERING_DOWN", false, true},
                          {"IDLE+CLOUD+POWER_DOWN", false, false},
                          {"DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING", true, true},
                          {"IDLE+CLOUD+DRAIN+POWERED_DOWN", true, true}}) {
    CAPTURE(one.printed);
    const json node = node_json(record("NodeName=n0 State=" + std::string(one.printed)));
    CHECK(node["away"] == one.away);
    CHECK(node["lost"] == one.lost);
    CHECK(node["powered_down"] == true);
  }
  CHECK(node_json(record("NodeName=n0 State=IDLE*"))["powered_down"] == false);
}

TEST_CASE("a job whose nodes are being powered up runs, but its script has not begun") {
  const json job =
      job_json(record("JobId=3 JobName=j\n   JobState=CONFIGURING Reason=None\n"), "running");
  CHECK(job["preparing"] == true);
  CHECK(job["explanation"].get<std::string>().find("powered up") != std::string::npos);
  const json running = job_json(record("JobId=3 JobState=RUNNING Reason=None\n"), "running");
  CHECK(running["preparing"] == false);
  CHECK(running["explanation"] == "");
}

TEST_CASE("partitions have their limits, grace time and preemption") {
  const auto partitions = parse_records(recorded("partitions-22.05.txt"));
  REQUIRE(partitions.size() == 2);
  CHECK(partition_json(partitions[0], {}) == json({{"name", "low"},
                                                   {"is_default", true},
                                                   {"up", true},
                                                   {"nodes", "n[0-1]"},
                                                   {"max_time_seconds", -1},
                                                   {"default_time_seconds", 0},
                                                   {"grace_seconds", 20},
                                                   {"preemption", "requeue"},
                                                   {"gives_whole_nodes", false},
                                                   {"min_nodes", 0},
                                                   {"max_nodes", 0},
                                                   {"max_cpus_per_node", 0},
                                                   {"max_memory_mib", 0},
                                                   {"cpus_per_gpu", 0},
                                                   {"billing", nullptr}}));
  CHECK(partition_json(partitions[1], {})["preemption"] == "none");
  const json other =
      partition_json(record("PartitionName=p\n   Nodes=(null)\n   MaxTime=1-02:00:00 "
                            "DefaultTime=02:00:00 State=DRAIN "
                            "PreemptMode=GANG,SUSPEND OverSubscribe=EXCLUSIVE MaxCPUsPerNode=12 "
                            "MinNodes=2 MaxNodes=4 MaxMemPerNode=2000\n"),
                     {});
  CHECK(other["max_time_seconds"] == 26 * 3600);
  CHECK(other["default_time_seconds"] == 2 * 3600);
  CHECK(other["up"] == false);
  CHECK(other["nodes"] == "");
  CHECK(other["preemption"] == "suspend");
  CHECK(other["gives_whole_nodes"] == true);
  CHECK(other["max_cpus_per_node"] == 12);
  CHECK(other["min_nodes"] == 2);
  CHECK(other["max_nodes"] == 4);
  CHECK(other["max_memory_mib"] == 2000);
}

TEST_CASE("a partition without rules for memory of its own has the site's") {
  const Record site = parse_config(
      "DefMemPerCPU            = 500\nMaxMemPerNode           = 9000\n"
      "JobDefaults             = DefCpuPerGPU=4,DefMemPerGPU=700\n"
      "SelectTypeParameters    = CR_CORE_MEMORY\n");
  const json as_site = partition_json(
      record("PartitionName=p JobDefaults=(null) DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED "
             "SelectTypeParameters=NONE\n"),
      site);
  CHECK(as_site["max_memory_mib"] == 9000);
  CHECK(as_site["cpus_per_gpu"] == 4);
  CHECK(as_site["memory"] == json({{"default_mib", 0},
                                   {"default_per_cpu_mib", 500},
                                   {"default_per_gpu_mib", 700},
                                   {"max_per_cpu_mib", 0},
                                   {"is_shared_out", true}}));
  const json own =
      partition_json(record("PartitionName=p JobDefaults=DefCpuPerGPU=2 DefMemPerNode=400 "
                            "MaxMemPerCPU=600 SelectTypeParameters=CR_CORE\n"),
                     site);
  CHECK(own["max_memory_mib"] == 0);
  CHECK(own["cpus_per_gpu"] == 2);
  CHECK(own["memory"] == json({{"default_mib", 400},
                               {"default_per_cpu_mib", 0},
                               {"default_per_gpu_mib", 700},
                               {"max_per_cpu_mib", 600},
                               {"is_shared_out", false}}));
  // DefMemPerCPU=0 and MaxMemPerCPU=0 in a partition.
  const json none = partition_json(
      record("PartitionName=p DefMemPerCPU=UNLIMITED MaxMemPerCPU=UNLIMITED\n"), site);
  CHECK(none["max_memory_mib"] == 0);
  CHECK(none["memory"]["default_per_cpu_mib"] == 0);
}

TEST_CASE("the lines of the configuration are read by name") {
  const json config = config_json(parse_config(recorded("config-22.05.txt")));
  CHECK(config["version"] == "22.05.8");
  CHECK(config["cluster_name"] == "d13a");
  CHECK(config["claimed_exits"].empty());
  CHECK(config["signals_reach_programs"] == true);
  CHECK(config["kill_wait_seconds"] == 5);
  CHECK(config["max_array_size"] == 1001);
  CHECK(config["max_step_ranks_per_node"] == 512);
  CHECK(config["one_rank_per_core"] == false);
  CHECK(config_json(parse_config(
            "SelectTypeParameters = CR_CORE,CR_ONE_TASK_PER_CORE\n"))["one_rank_per_core"] == true);
  CHECK(config["power_up_seconds"] == 60);
  CHECK(config["boot_time"] == 1795432866);
  CHECK(config["restarts_ended_jobs"] == false);
  CHECK(config_json(parse_config("SLURM_VERSION = 24.11.5\n"))["restarts_ended_jobs"] == true);
  const json settings = settings_json(recorded("config-22.05.txt"));
  CHECK(settings["KillWait"] == "5 sec");
  CHECK(settings["RequeueExit"] == "");
  const json claimed = config_json(
      parse_config("RequeueExit = 85,90-99\nProctrackType = proctrack/cgroup\nKillWait = x\n"));
  CHECK(claimed["claimed_exits"] == json({{{"setting", "RequeueExit"}, {"codes", "85,90-99"}}}));
  CHECK(claimed["signals_reach_programs"] == false);
  CHECK(claimed["kill_wait_seconds"] == 0);
}
