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

sched::QosInfo qos_named(const std::string& name) {
  sched::QosInfo qos;
  qos.name = name;
  return qos;
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
  for (const Answered& one :
       examine(usual())) {  // no bindings: clang before 16 does not capture them
    CAPTURE(one.question->id);
    CHECK((one.verdict.answer == Answer::yes || std::string(one.question->id) == "lost-node"));
    CHECK(one.verdict.wishes.empty());
    CHECK(!one.verdict.why.empty());
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
  facts.settings["PreemptMode"] = "GANG,SUSPEND";
  CHECK(judge_preemption(facts).answer == Answer::partly);
  CHECK(says(judge_preemption(facts), "gang scheduler"));
  CHECK(says(judge_preemption(facts), "KillWait=30 s at most"));
  facts.settings.erase("PreemptMode");
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
  facts.settings["PreemptType"] = "preempt/none";
  CHECK(says(judge_preemption(facts), "no job is preempted"));
}

TEST_CASE("preemption by QOS") {
  Facts facts = usual();
  facts.settings["PreemptType"] = "preempt/qos";
  facts.settings["PreemptMode"] = "GANG,SUSPEND";
  CHECK(judge_preemption(facts).answer == Answer::unknown);
  facts.qos_unknown = "slurmdbd is silent";
  CHECK(says(judge_preemption(facts), "slurmdbd is silent"));
  facts.qos = {qos_named("normal"), qos_named("urgent")};
  facts.qos[0].is_default = true;
  CHECK(says(judge_preemption(facts), "no QOS may preempt jobs of QOS normal"));
  facts.qos[1].preempts = {"idle", "normal"};
  CHECK(says(judge_preemption(facts), "suspended"));
  CHECK(says(judge_preemption(facts), "by jobs of urgent"));
  facts.settings["PreemptMode"] = "REQUEUE";
  CHECK(judge_preemption(facts).answer == Answer::yes);
  CHECK(wishes(judge_preemption(facts), "modify qos normal set GraceTime"));
  facts.qos[0].preemption = sched::Preemption::cancel;
  facts.qos[0].grace_seconds = 45;
  CHECK(says(judge_preemption(facts), "45 s of grace"));
  facts.settings["PreemptExemptTime"] = "00:10:00";
  CHECK(says(judge_preemption(facts), "has run for 600 s"));
  facts.qos[0].exempt_seconds = 0;
  CHECK_FALSE(says(judge_preemption(facts), "PreemptExemptTime"));
  facts.qos[0].preemption = sched::Preemption::none;
  CHECK(says(judge_preemption(facts), "jobs of QOS normal are not preempted"));
  facts.job.qos = "urgent";
  CHECK(says(judge_preemption(facts), "no QOS may preempt jobs of QOS urgent"));
  facts.job.qos = "other";
  CHECK(judge_preemption(facts).answer == Answer::unknown);
}

TEST_CASE("a time limit of the QOS") {
  Facts facts = usual();
  facts.qos = {qos_named("brief")};
  facts.qos[0].is_default = true;
  facts.qos[0].max_time_seconds = 300;
  facts.job.time = std::chrono::minutes(30);
  CHECK(judge_time_limit(facts).answer == Answer::yes);  // no limit is enforced
  facts.settings["AccountingStorageEnforce"] = "associations,limits,qos";
  CHECK(says(judge_time_limit(facts), "limit of QOS brief, 00:05:00: the job would wait forever"));
  facts.qos[0].refuses_excess = true;
  CHECK(says(judge_time_limit(facts), "Slurm refuses the job"));
  facts.partition.max_time_seconds = 240;
  CHECK(says(judge_time_limit(facts), "limit of partition low"));
  facts.job.time = std::nullopt;
  CHECK(judge_time_limit(facts).answer == Answer::yes);
}

TEST_CASE("the Prolog") {
  Facts facts = usual();
  CHECK(judge_prolog(facts).answer == Answer::yes);
  facts.settings["Prolog"] = "/etc/slurm/prolog.sh";
  CHECK(judge_prolog(facts).answer == Answer::partly);
  CHECK(wishes(judge_prolog(facts), "PrologFlags"));
  facts.settings["PrologFlags"] = "Contain,Serial";
  CHECK(judge_prolog(facts).answer == Answer::yes);
  CHECK(says(judge_prolog(facts), "Serial"));
  facts.settings["PrologFlags"] = "NoHold";
  facts.job.nodes = 1;
  CHECK(judge_prolog(facts).answer == Answer::yes);
}

TEST_CASE("what ssh starts") {
  Facts facts = usual();
  facts.job.starts_by_ssh = true;
  CHECK(judge_leftovers(facts).answer == Answer::partly);
  CHECK(wishes(judge_leftovers(facts), "PrologFlags"));
  facts.settings["PrologFlags"] = "Alloc,Contain";
  CHECK(judge_leftovers(facts).answer == Answer::yes);
}

TEST_CASE("the time limit") {
  Facts facts = usual();
  CHECK(says(judge_time_limit(facts), "no time limit"));
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
  facts.machine.srun_mpi = "\tpmix\nspecific pmix plugin versions available: pmix_v4\n";
  facts.machine.open_mpi = {"4.1.4", {"ext3x", "isolated"}, "4.2.2"};
  CHECK(
      says(judge_ranks(facts), "pmix (pmix_v4), which programs of Open MPI 4.1.4 with PMIx 4.2.2"));
  facts.machine.open_mpi.pmix = {"isolated", "flux"};
  CHECK(judge_ranks(facts).answer == Answer::partly);
  facts.machine.open_mpi.pmix.clear();
  CHECK(judge_ranks(facts).answer == Answer::partly);
  facts.machine.open_mpi.release = "5.0.8";
  CHECK(judge_ranks(facts).answer == Answer::yes);
  facts.machine.open_mpi.pmix_release = "5.0.8";
  facts.site.version = "24.11.5";
  CHECK(says(judge_ranks(facts), "known to hang"));
  facts.site.version = "25.05.1";
  CHECK(judge_ranks(facts).answer == Answer::yes);
  facts.machine.open_mpi.release = "4.1.4";
  facts.machine.open_mpi.pmix = {"s2"};
  facts.machine.srun_mpi = "none\npmi2\n";
  CHECK(judge_ranks(facts).answer == Answer::yes);
  facts.machine.open_mpi.pmix = {"ext3x"};
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
