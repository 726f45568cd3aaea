// SPDX-License-Identifier: Apache-2.0
// The libslurm plug-in without a controller: its tables, and configurations that it must survive.
#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "core/plugin/scheduler.hpp"
#include "plugins/slurm/failure.hpp"
#include "plugins/slurm/words.hpp"
#include "plugins/slurm_shared/job_words.hpp"
#include "plugins/slurm_shared/node_words.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

// Functions that libslurm has, but its public header lacks, for comparison only.

using namespace slurm_plugin;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

std::string code_for(int number) {
  return failed_slurm(number, "").value().code;
}

// Loads the scheduler with a slurm.conf that contains `text`, which is broken; returns the error.
dts::Error error_with(const std::string& text, bool probe = false) {
  const std::string path = "/tmp/dts-slurm-conf-" + std::to_string(getpid());
  REQUIRE(dts::write_file(path, text).has_value());
  setenv("SLURM_CONF", path.c_str(), 1);
  const auto scheduler = dts::plugin::load_scheduler("slurm", probe);
  unlink(path.c_str());
  REQUIRE_FALSE(scheduler.has_value());
  CHECK(scheduler.error().code == dts::Errc::unreachable);
  return scheduler.error();
}

}  // namespace

TEST_CASE("GPUs are counted over all types, whatever the sockets say") {
  using Types = std::map<std::string, unsigned>;
  CHECK(gpus_by_type("").empty());
  CHECK(gpus_by_type("gpu") == Types{{"", 1}});
  CHECK(gpus_by_type("gpu:8") == Types{{"", 8}});
  CHECK(gpus_by_type("gpu:a100") == Types{{"a100", 1}});
  CHECK(gpus_by_type("gpu:a100:8") == Types{{"a100", 8}});
  CHECK(gpus_by_type("gpu:a100:8(S:0-1)") == Types{{"a100", 8}});
  CHECK(gpus_by_type("gpufs:3").empty());
  nlohmann::json node;
  add_gpus(node, "gpu:a100:4(S:0,1),nic:mlx:2,gpu:v100:2(S:1),gpu:1");
  CHECK(node == nlohmann::json({{"gpus", 7}, {"gpu_types", {{"a100", 4}, {"v100", 2}}}}));
}

TEST_CASE("reasons have the words that squeue prints") {
  CHECK(reason_word(WAIT_NO_REASON) == "None");
  CHECK(reason_word(WAIT_RESOURCES) == "Resources");
  CHECK(reason_word(WAIT_RESV_DELETED) == "ReservationDeleted");
  CHECK(reason_word(5000) == "Reason5000");
}

TEST_CASE("every reason that libslurm has a name for is explained") {
  for (unsigned reason = WAIT_NO_REASON; reason < 500; ++reason) {
    CAPTURE(reason_word(reason));
    if (reason_word(reason) == "Reason" + std::to_string(reason)) continue;
    CHECK(words_of_reason(reason_word(reason)).has_value());
  }
}

TEST_CASE("flags on top of a job's state do not hide it") {
  CHECK(job_state_word(JOB_PENDING | JOB_COMPLETING) == std::string("pending"));
  CHECK(job_state_word(JOB_RUNNING | JOB_SIGNALING) == std::string("running"));
  CHECK(job_state_word(JOB_TIMEOUT | JOB_COMPLETING) == std::string("timed_out"));
  CHECK(job_state_word(JOB_OOM) == std::string("out_of_memory"));
  CHECK(job_state_word(200) == std::string("unknown"));
  // Another cluster of the federation has the job.
  CHECK(job_state_word(JOB_PENDING | JOB_REVOKED) == std::string("unknown"));
}

TEST_CASE("a node's state is the word that sinfo would print") {
  CHECK(node_state_word(NODE_STATE_IDLE) == "idle");
  CHECK(node_state_word(NODE_STATE_IDLE | NODE_STATE_DRAIN) == "drained");
  CHECK(node_state_word(NODE_STATE_MIXED | NODE_STATE_DRAIN) == "draining");
  CHECK(node_state_word(NODE_STATE_DOWN | NODE_STATE_NO_RESPOND) == "down*");
  CHECK(node_state_word(NODE_STATE_IDLE | NODE_STATE_CLOUD | NODE_STATE_POWERED_DOWN) == "idle~");
  CHECK(node_state_word(NODE_STATE_MIXED | NODE_STATE_NO_RESPOND | NODE_STATE_POWERING_UP) ==
        "mixed#");
  CHECK(node_state_word(NODE_STATE_IDLE | NODE_STATE_POWERING_DOWN) == "idle%");
  CHECK(node_state_word(NODE_STATE_IDLE | NODE_STATE_POWER_DOWN) == "idle!");
}

TEST_CASE("a node that takes no job is away, and a silent one is lost") {
  for (const char* state : {"idle", "allocated", "mixed", "completing", "reserved"}) {
    CAPTURE(state);
    CHECK_FALSE(is_unavailable(state));
    CHECK_FALSE(is_lost(state));
  }
  for (const char* state : {"drained", "draining", "error", "inval", "failing"}) {
    CAPTURE(state);
    CHECK(is_unavailable(state));
    CHECK_FALSE(is_lost(state));
  }
  for (const char* state : {"down", "down*", "idle*", "drained*"}) {
    CAPTURE(state);
    CHECK(is_unavailable(state));
    CHECK(is_lost(state));
  }
}

TEST_CASE("preemption is a neutral word, and versions have Slurm's spelling") {
  CHECK(preemption_word(PREEMPT_MODE_REQUEUE) == std::string("requeue"));
  CHECK(preemption_word(PREEMPT_MODE_CANCEL | PREEMPT_MODE_WITHIN) == std::string("cancel"));
  CHECK(preemption_word(PREEMPT_MODE_SUSPEND | PREEMPT_MODE_GANG) == std::string("suspend"));
  CHECK(preemption_word(PREEMPT_MODE_OFF) == std::string("none"));
  CHECK(version_word(SLURM_VERSION_NUM(22, 5, 8)) == "22.05.8");
}

TEST_CASE("error numbers fall into rejected, unreachable and not found, with Slurm's words") {
  CHECK(code_for(SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR) == "unreachable");
  CHECK(code_for(SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT) == "unreachable");
  CHECK(code_for(ECONNREFUSED) == "unreachable");
  CHECK(code_for(ESLURM_AUTH_CRED_INVALID) == "unreachable");
  CHECK(code_for(ESLURM_INVALID_JOB_ID) == "not_found");
  CHECK(code_for(ESLURM_INVALID_PARTITION_NAME) == "rejected");
  CHECK(code_for(ESLURM_CONTAINER_NOT_CONFIGURED) == "rejected");
  CHECK(failed_slurm(ESLURM_INVALID_QOS, "").value().message == slurm_strerror(ESLURM_INVALID_QOS));
}

// Omits errno values of the system (below 1000) and numbers that have no text of their own.
TEST_CASE("what a command prints means the same as libslurm's number for it") {
  for (int number = 1000; number < 9100; ++number) {
    const std::string said = slurm_strerror(number);
    if (has(said, "Unknown") || has(said, "Unspecified")) continue;
    const Failure by_number = failed_slurm(number, "").value();
    const Failure by_text = failed_command("sbatch: " + said).value();
    CAPTURE(number);
    CAPTURE(said);
    CHECK(std::string(by_number.code) == by_text.code);
    CHECK(by_number.hint == by_text.hint);
    CHECK(by_number.other_release == by_text.other_release);
  }
}

TEST_CASE("a configuration that libslurm would die of is an error that names it") {
  setenv("SLURM_CONF", "/nonexistent/slurm.conf", 1);
  const auto absent = dts::plugin::load_scheduler();
  REQUIRE_FALSE(absent.has_value());
  CHECK(absent.error().code == dts::Errc::unreachable);
  CHECK(has(absent.error().message, "/nonexistent/slurm.conf"));
  CHECK(has(absent.error().hint, "dtsubmit cluster up"));
  CHECK(has(error_with("").message, "no ClusterName"));
  CHECK(has(error_with("ClusterName=x\n").message, "no SlurmctldHost"));
  CHECK(has(error_with("ClusterName=x\nSlurmctldHost=h\nInclude /nonexistent/y\n").message,
            "/nonexistent/y"));
}

TEST_CASE("with a probe, any other broken configuration is an error with libslurm's words") {
  const std::string base = "ClusterName=x\nSlurmctldHost=localhost\n";
  CHECK(has(error_with(base + "Blah=1\n", true).message, "unrecognized key: Blah"));
  CHECK(has(error_with(base + "KillWait=abc\n", true).message, "KillWait"));
}

TEST_CASE("without a probe, a broken configuration ends the process with 4 and says why") {
  const std::string path = "/tmp/dts-slurm-conf-dies-" + std::to_string(getpid());
  REQUIRE(dts::write_file(path, "ClusterName=x\nSlurmctldHost=h\nBlah=1\n").has_value());
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("SLURM_CONF", path.c_str(), 1);
    (void)dts::plugin::load_scheduler();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(dts::exit_code_of_wait_status(status) == 4);
  unlink(path.c_str());
}

TEST_CASE("with no configuration at all, the hint says how to get a Slurm") {
  for (const char* place : {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"})
    if (dts::exists(place)) {
      MESSAGE("skipped: this machine has " << place);
      return;
    }
  unsetenv("SLURM_CONF");
  const auto scheduler = dts::plugin::load_scheduler();
  REQUIRE_FALSE(scheduler.has_value());
  CHECK(scheduler.error().code == dts::Errc::unreachable);
  CHECK(has(scheduler.error().message, "no Slurm here"));
  CHECK(has(scheduler.error().hint, "dtsubmit cluster up"));
}
