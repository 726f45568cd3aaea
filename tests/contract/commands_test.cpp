// SPDX-License-Identifier: Apache-2.0
// Slurm's commands as programs: how they are found, that they get no options from the user's
// environment, and that they are ended if they hang.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/plugin/host.hpp"
#include "plugins/slurm_shared/command.hpp"
#include "plugins/slurm_shared/job_name.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

using namespace slurm_plugin;

namespace {

// Folders that are searched for commands, during the lifetime of the object.
class Path {
 public:
  explicit Path(const std::string& value) : before_(std::getenv("PATH")) {
    setenv("PATH", value.c_str(), 1);
  }

  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

  ~Path() { setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

// A folder with programs of these names. Other programs are those of /bin, and the programs
// themselves read the configuration.
struct Commands {
  dts::tests::TemporaryFolder folder;
  Path path{folder.path + ":/bin"};

  Commands(const char* name, const std::string& script) {
    unsetenv("SLURM_CONF");
    add(name, script);
  }

  void add(const char* name, const std::string& script) const {
    REQUIRE(dts::write_file(folder.file(name), "#!/bin/sh\n" + script + "\n"));
    REQUIRE(::chmod(folder.file(name).c_str(), 0700) == 0);
  }
};

// The plug-in's reply to an operation.
json reply(const char* operation, const json& request) {
  const auto plugin = dts::plugin::load_plugin("slurm-commands");
  REQUIRE_MESSAGE(plugin.has_value(), plugin.error().message);
  const auto text = (*plugin)->call(operation, request.dump());
  if (!text) return {{"error", text.error().message}, {"code", exit_code(text.error().code)}};
  return json::parse(*text);
}

}  // namespace

TEST_CASE("what a command of Slurm printed is known by its words") {
  const auto refused =
      failed_command("sbatch: Batch job submission failed: Invalid qos specification");
  CHECK(refused.value().code == std::string("rejected"));
  CHECK(refused.value().hint.find("--qos") != std::string::npos);
  const auto away = failed_command(
      "sbatch: Batch job submission failed: Unable to contact slurm controller (connect failure)");
  CHECK(away.value().code == std::string("unreachable"));
  CHECK(failed_command("sbatch: unrecognized option '--x'").value().code ==
        std::string("rejected"));
  // lua's slurm.ERROR, and its 2002.
  CHECK(failed_command("Unspecified error (no project)").value().hint.find("job_submit") !=
        std::string::npos);
  CHECK(of_submission(
            failed_command("Job violates accounting/QOS policy (AssocMaxSubmitJobLimit)").value())
            .hint.find("with it, you would use more than its account allows one user: submitted "
                       "jobs; a limit") == 0);
  CHECK(of_submission(failed_command("Access/permission denied (use high)").value())
            .hint.find("--partition") != std::string::npos);
  CHECK(meaning_of("Incompatible versions of client and server code").other_release);
}

TEST_CASE("a command's errors are told without its name") {
  CHECK(plain("sbatch: error: Invalid qos\n") == "Invalid qos");
  CHECK(plain("sbatch: error: a\nsbatch: error: b\nTry \"sbatch --help\" for more information\n") ==
        "a; b");
  CHECK(plain("slurm_load_jobs error: Invalid job id specified\n") ==
        "slurm_load_jobs error: Invalid job id specified");
  CHECK(plain("scontrol: fatal: x\n") == "fatal: x");
  CHECK(plain("").empty());
}

TEST_CASE("variables that change what a command prints are left out, those of the cluster stay") {
  for (const char* out : {"SLURM_CLUSTERS=x",
                          "SLURM_TIME_FORMAT=relative",
                          "SQUEUE_FORMAT=%i",
                          "SACCT_FORMAT=x",
                          "SBATCH_QOS=x",
                          "SLURM_CONF=",
                          "SCANCEL_PARTITION=x"})
    CHECK(changes_output(out));
  for (const char* stays : {"SLURM_CONF=/x", "SLURM_JWT=x", "SLURM_CONF_SERVER=h", "HOME=/x"})
    CHECK_FALSE(changes_output(stays));
  setenv("SQUEUE_FORMAT", "%i", 1);
  setenv("SLURM_TIME_FORMAT", "relative", 1);
  const Commands commands("squeue", "env");
  const auto said = output_of({"squeue"});
  unsetenv("SQUEUE_FORMAT");
  unsetenv("SLURM_TIME_FORMAT");
  REQUIRE(said.has_value());
  CHECK(said->find("SQUEUE_FORMAT") == std::string::npos);
  CHECK(said->find("SLURM_TIME_FORMAT=%s\n") != std::string::npos);
  CHECK(said->find("LC_ALL=C\n") != std::string::npos);
}

TEST_CASE("a command that hangs is killed, with what it started, and its outcome is unknown") {
  const Commands commands("sbatch", "sleep 60 & sleep 60");
  const auto begun = std::chrono::steady_clock::now();
  const auto said =
      run_command({.words = {"sbatch", "--comment=secret"}, .limit = std::chrono::seconds(1)});
  REQUIRE_FALSE(said.has_value());
  CHECK(said.error().code == std::string("unreachable"));
  CHECK(said.error().message == "sbatch had no answer after 1 s");
  CHECK(said.error().hint.find("is munge running here") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
}

TEST_CASE("the outcome of a command that a signal ends is unknown") {
  const Commands commands("scontrol", "kill -TERM $$");
  const auto said = run_command({.words = {"scontrol", "requeue", "5"}});
  REQUIRE(!said);
  CHECK(said.error().code == std::string("unreachable"));
  CHECK(said.error().message == "scontrol was ended by signal 15");
}

TEST_CASE(
    "an exit code above 128 is an answer: sbatch ends with 255 if it does not know an option") {
  const Commands commands("sbatch", "echo 'sbatch: unrecognized option' >&2; exit 255");
  const auto said = run_command({.words = {"sbatch", "--no-such-option"}});
  REQUIRE(said);
  CHECK(said->exit_code == 255);
}

TEST_CASE("a command that cannot be started had no time to run out, whatever its path says") {
  const Commands slurm("unused", "exit 0");
  const std::string bin = slurm.folder.file("timed out");
  REQUIRE(dts::make_folders(bin));
  slurm.add("timed out/sbatch", "exit 0");
  const auto said = run_command({.words = {bin + "/sbatch"}, .folder = "/no/such/folder"});
  REQUIRE_FALSE(said);
  CHECK(said.error().message.find("cannot be run") != std::string::npos);
}

TEST_CASE("a command gets its text, its folder and its own environment") {
  const Commands commands("sbatch", "cat; pwd; env; exit 3");
  const auto said = run_command({.words = {"sbatch"},
                                 .environment = std::vector<std::string>{"ONLY=this"},
                                 .folder = commands.folder.path,
                                 .input = "a script\n"});
  REQUIRE(said.has_value());
  CHECK(said->exit_code == 3);
  CHECK(said->out.find("a script\n" + commands.folder.path + "\n") == 0);
  CHECK(said->out.find("ONLY=this") != std::string::npos);
  CHECK(said->out.find("LC_ALL") == std::string::npos);
}

TEST_CASE("a command that does not exist is reported by name") {
  const auto said = run_command({.words = {"sbatch-of-no-site"}});
  REQUIRE_FALSE(said.has_value());
  CHECK(said.error().code == std::string("unreachable"));
  CHECK(said.error().message.find("no sbatch-of-no-site here") == 0);
}

TEST_CASE("a configuration that scontrol refuses is an error with its words") {
  const Commands commands(
      "scontrol", "echo 'scontrol: fatal: Could not establish a configuration source' >&2; exit 1");
  const json said = reply("open", {{"probe", true}});
  CHECK(said["code"] == 4);
  CHECK(said["error"] == "fatal: Could not establish a configuration source");
}

TEST_CASE("a configuration that is not there is not waited for, as scontrol would for a minute") {
  const Commands commands("scontrol", "sleep 60");
  setenv("SLURM_CONF", "/nonexistent/slurm.conf", 1);
  const auto begun = std::chrono::steady_clock::now();
  const json said = reply("open", {{"probe", false}});
  const json version = reply("version", json::object());
  unsetenv("SLURM_CONF");
  CHECK(said["code"] == 4);
  CHECK(said["error"] ==
        "cannot read Slurm's configuration /nonexistent/slurm.conf: No such file or directory");
  CHECK(version["library"] == "");
  CHECK(version["words"].get<std::string>().find("Slurm through its commands (/") == 0);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
}

TEST_CASE("a federation's job that runs on another of its clusters is asked about there") {
  Commands commands("scontrol",
                    "case $* in *version*) echo slurm 24.11.5; exit;; *--sibling*)\n"
                    "echo 'JobId=2148143672 JobState=REVOKED NodeList=(null)'; echo\n"
                    "echo 'JobId=2148143672 JobState=RUNNING NodeList=n7';; *--local*)\n"
                    "echo 'JobId=2148143672 JobState=REVOKED NodeList=(null)';; esac");
  const json there = reply("job", {{"id", "2148143672"}});
  CHECK(there["state"] == "running");
  CHECK(there["nodes"] == "n7");
  CHECK(there["id"] == "2148143672");
  // A cluster that does not answer.
  commands.add("scontrol",
               "case $* in *version*) echo slurm 24.11.5; exit;; *--sibling*) exit 1;; esac\n"
               "echo 'JobId=4294967293 JobState=REVOKED NodeList=(null)'");
  CHECK(reply("job", {{"id", "4294967293"}})["state"] == "unknown");
}

TEST_CASE("a site that hides its nodes from users shows their jobs, and no nodes") {
  const Commands commands(
      "scontrol",
      "case $* in *version*) echo slurm 22.05.8;;\n"
      "*--details*) kill -SEGV $$;;\n"
      "*node*) echo 'slurm_load_node error: Access/permission denied' >&2; exit 1;;\n"
      "*) echo 'JobId=5 JobState=RUNNING NodeList=n7'; esac");
  CHECK(reply("job", {{"id", "5"}})["nodes"] == "n7");
  CHECK(reply("nodes", json::object()) == json::array());
}

TEST_CASE("a job finds the reason for its end in its own log, however long that is") {
  const Commands commands("scontrol",
                          "case $* in *version*) echo slurm 24.11.5;; *)\n"
                          "echo JobId=5 JobState=COMPLETING StartTime=0 StdErr=${0%/*}/log; esac");
  REQUIRE(dts::write_file(commands.folder.file("log"),
                          std::string(3'000'000, 'x') +
                              "\n*** JOB 5 ON n0 CANCELLED AT 999990 DUE TO PREEMPTION ***\n"));
  setenv("SLURM_JOB_ID", "5", 1);
  CHECK(reply("job", {{"id", "5"}})["state"] == "preempted");
  CHECK(::unlink(commands.folder.file("log").c_str()) == 0);
  CHECK(reply("job", {{"id", "5"}})["state"] == "cancelled");
  unsetenv("SLURM_JOB_ID");
}

TEST_CASE("a signal to one task while others wait was sent only if scancel says so") {
  Commands commands("scontrol",
                    "case $* in *version*) echo slurm 22.05.8;; *)\n"
                    "echo 'JobId=6 ArrayJobId=5 ArrayTaskId=3 JobState=RUNNING'; echo\n"
                    "echo 'JobId=5 ArrayJobId=5 ArrayTaskId=4-9 JobState=PENDING'; esac");
  const auto code = [&](const char* scancel) {
    commands.add("scancel", scancel);
    return reply("signal_batch", {{"id", "5_3"}, {"signal", 12}}).value("code", 0);
  };
  CHECK(code("exit 0") == 0);
  CHECK(code("echo 'scancel: Job is in transitional state, retrying' >&2; exec sleep 60") == 0);
  CHECK(code("echo 'scancel: error: Kill job error on job id 5_3: Job can not be altered now, try "
             "again later' >&2; exit 1") == 0);
  CHECK(code("exec sleep 60") == 4);  // the controller is slow
  CHECK(code("kill -KILL $$") == 4);
  CHECK(::unlink(commands.folder.file("scancel").c_str()) == 0);
  if (!find_command("scancel"))
    CHECK(reply("signal_batch", {{"id", "5_3"}, {"signal", 12}})["code"] == 4);
}

TEST_CASE("a job that slurmctld has forgotten is looked for in the accounting") {
  Commands commands("scontrol",
                    "case $* in *version*) echo slurm 24.11.5;; *)\n"
                    "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1;; esac");
  commands.add("sacct",
               "echo '12|CANCELLED by 1000|0:15|1700000000|1700000100|n[0-1]|low'\n"
               "echo '12_3|COMPLETED|0:0|1700000000|1700000100|n0|low'\n"
               "echo '13|RUNNING|0:0|1700000000|Unknown|n0|low'");
  const json cancelled = reply("job", {{"id", "12"}});
  CHECK(cancelled["state"] == "cancelled");
  CHECK(cancelled["nodes"] == "n[0-1]");
  CHECK(cancelled["end_time"] == 1700000100);
  CHECK(cancelled["explanation"].get<std::string>().starts_with("it was cancelled by "));
  CHECK(reply("job", {{"id", "12_3"}})["state"] == "completed");
  CHECK(reply("job", {{"id", "13"}})["code"] == 6);
  CHECK(reply("job", {{"id", "14"}})["code"] == 6);
  CHECK(reply("version", json::object())["library"] == "24.11.5");
  commands.add("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  CHECK(reply("job", {{"id", "12"}})["code"] == 6);
}

TEST_CASE("a job's id is a number, a task of an array or a component of a heterogeneous job") {
  CHECK(parse_job_name("4711")->number == 4711);
  // In a federation, the cluster's number is above the job's 26 bits. This is the last job of
  // cluster 63.
  CHECK(parse_job_name("4294967295")->number == 4'294'967'295U);
  CHECK(parse_job_name("4294967295_4000000")->number == 4'294'967'295U);
  CHECK(parse_job_name("4294967295+1")->component == 1);
  CHECK(parse_job_name("4711_0")->task == 0);
  CHECK(parse_job_name("4711+1")->component == 1);
  for (const char* none : {"",
                           "0",
                           "x",
                           "q7.alpha",
                           "4711_",
                           "4711_[1-3]",
                           "4711_3+1",
                           "4711.0",
                           "4294967296",
                           "-1"}) {
    CAPTURE(none);
    CHECK_FALSE(parse_job_name(none));
  }
}
