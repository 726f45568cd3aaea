// SPDX-License-Identifier: Apache-2.0
// What is answered from which settings. Whether the answers are true is tried on real clusters:
// tests/integration/doctor.py.
#include "core/doctor/questions.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace dts::doctor {
namespace {

// A site as most are: REQUEUE with grace, control groups.
Facts usual() {
  Facts facts;
  facts.site.kill_wait_seconds = 30;
  facts.site.max_array_size = 1001;
  facts.settings = {{"PreemptType", "preempt/partition_prio"},
                    {"ProctrackType", "proctrack/cgroup"},
                    {"TaskPlugin", "task/affinity,task/cgroup"},
                    {"ConstrainCores", "yes"},
                    {"ConstrainDevices", "yes"},
                    {"ConstrainRAMSpace", "yes"},
                    {"SelectTypeParameters", "CR_CORE_MEMORY"},
                    {"GresTypes", "gpu"},
                    {"MpiDefault", "none"}};
  facts.partition.name = "low";
  facts.partition.preemption = sched::Preemption::requeue;
  facts.partition.grace_seconds = 60;
  facts.partition.max_time_seconds = -1;
  facts.job.nodes = 2;
  facts.job.gpus_per_node = 8;
  facts.job.margin = std::chrono::seconds(120);
  facts.machine.mpirun = "mpirun (Open MPI) 4.1.4";
  facts.machine.srun_mpi = "MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\n";
  facts.machine.runs = "/home/me/runs";
  return facts;
}

bool says(const Verdict& verdict, const std::string& words) {
  return verdict.why.find(words) != std::string::npos;
}

bool wishes(const Verdict& verdict, const std::string& setting) {
  for (const Wish& wish : verdict.wishes)
    if (wish.setting == setting) return true;
  return false;
}

}  // namespace

TEST_CASE("a site that is set up well refutes nothing and needs nothing") {
  for (const auto& [question, verdict] : examine(usual())) {
    CAPTURE(question->id);
    CHECK((verdict.answer == Answer::yes || std::string(question->id) == "lost-node"));
    CHECK(verdict.wishes.empty());
    CHECK(!verdict.why.empty());
  }
  CHECK_FALSE(is_refuted(examine(usual())));
}

TEST_CASE("every question has an id of its own and an answer without any facts") {
  std::set<std::string> ids;
  for (const auto& [question, verdict] : examine({})) {
    CHECK(ids.insert(question->id).second);
    CHECK(!verdict.why.empty());
  }
}

TEST_CASE("preemption") {
  Facts facts = usual();
  CHECK(says(judge_preemption(facts), "60 s of grace"));
  CHECK(says(judge_preemption(facts), "121 s later"));
  facts.settings["AuthInfo"] = "socket=/run/munge,cred_expire=30";
  CHECK(says(judge_preemption(facts), "31 s later"));
  facts.partition.grace_seconds = 0;
  CHECK(judge_preemption(facts).answer == Answer::yes);
  CHECK(says(judge_preemption(facts), "KillWait=30 s"));
  CHECK(wishes(judge_preemption(facts), "PartitionName=low GraceTime"));
  facts.settings["ProctrackType"] = "proctrack/linuxproc";
  facts.site.signals_reach_programs = true;
  CHECK(judge_preemption(facts).answer == Answer::partly);
  facts.partition.preemption = sched::Preemption::cancel;
  CHECK(says(judge_preemption(facts), "cancels"));
  facts.job.requeue = false;
  CHECK(judge_preemption(facts).answer == Answer::no);
  facts.partition.preemption = sched::Preemption::suspend;
  CHECK(judge_preemption(facts).answer == Answer::yes);
  facts.partition.preemption = sched::Preemption::none;
  CHECK(says(judge_preemption(facts), "not preempted"));
  facts.settings["PreemptType"] = "preempt/qos";
  CHECK(judge_preemption(facts).answer == Answer::unknown);
  facts.settings["PreemptType"] = "preempt/none";
  CHECK(says(judge_preemption(facts), "nobody"));
}

TEST_CASE("the time limit") {
  Facts facts = usual();
  CHECK(says(judge_time_limit(facts), "has none"));
  facts.job.time = std::chrono::hours(1);
  CHECK(says(judge_time_limit(facts), "warned 120 s"));
  facts.partition.max_time_seconds = 600;
  CHECK(judge_time_limit(facts).answer == Answer::no);
  facts.job.time = std::nullopt;
  CHECK(judge_time_limit(facts).answer == Answer::yes);
  facts.job.requeue = false;
  CHECK(judge_time_limit(facts).answer == Answer::no);
  facts.job.margin = std::chrono::seconds(0);
  CHECK(judge_time_limit(facts).answer == Answer::partly);
}

TEST_CASE("cores") {
  Facts facts = usual();
  facts.settings["ConstrainCores"] = "no";
  CHECK(judge_cores(facts).answer == Answer::partly);
  CHECK(wishes(judge_cores(facts), "ConstrainCores"));
  CHECK_FALSE(wishes(judge_cores(facts), "TaskPlugin"));
  facts.settings["TaskPlugin"] = "task/none";
  CHECK(wishes(judge_cores(facts), "TaskPlugin"));
  facts.job.is_bound = false;
  CHECK(judge_cores(facts).answer == Answer::no);
}

TEST_CASE("memory, GPUs and processes that stay") {
  Facts facts = usual();
  facts.settings["SelectTypeParameters"] = "CR_CORE";
  CHECK(judge_memory(facts).wishes.front().wanted == "CR_CORE_Memory");
  facts.settings["ConstrainDevices"] = "";
  CHECK(judge_gpus(facts).answer == Answer::partly);
  facts.settings["GresTypes"] = "";
  CHECK(judge_gpus(facts).answer == Answer::no);
  facts.job.gpus_per_node = 0;
  CHECK(judge_gpus(facts).answer == Answer::yes);
  facts.settings["ProctrackType"] = "proctrack/pgid";
  CHECK(judge_leftovers(facts).answer == Answer::partly);
}

TEST_CASE("ranks") {
  Facts facts = usual();
  facts.job.launcher = "srun";
  CHECK(says(judge_ranks(facts), "srun has pmix, pmi2"));
  facts.machine.srun_mpi = "none\npmi2\n";
  CHECK(judge_ranks(facts).answer == Answer::partly);
  facts.machine.srun_mpi = "";
  CHECK(judge_ranks(facts).answer == Answer::unknown);
  facts.job.launcher = "mpirun";
  facts.machine.mpirun = "";
  CHECK(judge_ranks(facts).answer == Answer::no);
}

TEST_CASE("exit codes and arrays") {
  Facts facts = usual();
  facts.site.claimed_exits = {{"RequeueExit", "80-90"}};
  CHECK(judge_exit_codes(facts).answer == Answer::no);
  facts.site.claimed_exits = {{"RequeueExitHold", "what, 300, 85"}};
  CHECK(judge_exit_codes(facts).answer == Answer::no);
  facts.site.claimed_exits = {{"RequeueExit", "1,94"}, {"RequeueExitHold", "what"}};
  CHECK(judge_exit_codes(facts).answer == Answer::yes);
  facts.job.elements = 1001;
  CHECK(judge_array(facts).answer == Answer::yes);
  facts.job.elements = 1002;
  CHECK(judge_array(facts).answer == Answer::no);
  facts.site.max_array_size = 0;
  CHECK(judge_array(facts).answer == Answer::unknown);
}

TEST_CASE("folders and locked memory") {
  Facts facts = usual();
  facts.machine.local_type = "tmpfs";
  CHECK(judge_run_folder(facts).answer == Answer::partly);
  facts.machine.memlock = 8U << 20U;
  CHECK(judge_locked_memory(facts).answer == Answer::partly);
  facts.settings["PropagateResourceLimitsExcept"] = "NOFILE,MEMLOCK";
  CHECK(judge_locked_memory(facts).answer == Answer::unknown);
}

}  // namespace dts::doctor
