// SPDX-License-Identifier: Apache-2.0
// dtsubmit run that is stopped, interrupted, killed or continued, where it works, and which of its
// secrets can be seen meanwhile.
#include "core/base/text/text.hpp"
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

namespace {

using namespace dts;
using namespace dts::tests;

// Two ranks that report that they run, and that save on SIGTERM and exit 85.
const char* const k_saves =
    "import os, signal, sys, time\n"
    "if os.environ['DTSUBMIT_ATTEMPT'] != '1': sys.exit(0)\n"
    "def save(*_):\n"
    "  open(os.environ['DTSUBMIT_RUN_DIR'] + '/saved-' + os.environ['RANK'], 'w').close()\n"
    "  os._exit(85)\n"
    "signal.signal(signal.SIGTERM, save)\n"
    "open(os.environ['DTSUBMIT_RUN_DIR'] + '/ready-' + os.environ['RANK'], 'w').close()\n"
    "while True: time.sleep(1)\n";

const char* const k_never_stops =
    "import os, signal, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "open(os.environ['DTSUBMIT_RUN_DIR'] + '/ready-' + os.environ['RANK'], 'w').close()\n"
    "while True: time.sleep(1)\n";

const Words k_stopped{"created",
                      "attempt_started",
                      "ranks_started",
                      "stop_requested:stopped",
                      "attempt_ended:stopped",
                      "decided:stop"};

// A run of two ranks in the background, which has started its programs.
class Running : public Session {
 public:
  explicit Running(const char* script)
      : pid_(begin(
            {"run", "--job-name", "t", "--ntasks-per-node", "2", "--", "python3", "-c", script})) {
    REQUIRE_MESSAGE(wait_until([&] { return has("ready-0") && has("ready-1"); }),
                    read_file(file("err")).value_or(""));
  }

  ~Running() {
    for (const pid_t pid : survivors()) ::kill(pid, SIGKILL);
  }

  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  [[nodiscard]] bool has(const std::string& name) const {
    const auto runs = run::list_runs(file("runs"));
    return !runs.empty() && exists(runs.back().path + "/" + name);
  }

  void signal(int number) const { ::kill(pid_, number); }

  // The run's exit code, or -1 after 60 s.
  int end() const {
    int status = 0;
    const bool ended = wait_until([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
    return ended ? exit_code_of_wait_status(status) : -1;
  }

  [[nodiscard]] bool nothing_is_left() const {
    return wait_until([&] { return survivors().empty(); });
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("SIGTERM makes every rank save; the run stops with 85 and can be continued") {
  if (!Session::has_mpirun()) return;
  const Running run(k_saves);
  run.signal(SIGTERM);
  CHECK(run.end() == 85);
  CHECK(run.has("saved-0"));
  CHECK(run.has("saved-1"));
  CHECK(run.story() == k_stopped);
  const auto events = run::read_ledger(run.newest_run().ledger());
  CHECK(contains(run::detail_of(events->at(4)), "every rank saved"));
  CHECK(run.nothing_is_left());
}

TEST_CASE("Ctrl-C saves too, and is exit code 130") {
  if (!Session::has_mpirun()) return;
  const Running run(k_saves);
  run.signal(SIGINT);
  CHECK(run.end() == 130);
  CHECK(run.has("saved-0"));
  CHECK(run.has("saved-1"));
  CHECK(run.nothing_is_left());
}

TEST_CASE("dtsubmit stop makes every rank save, once; the run can be continued") {
  if (!Session::has_mpirun()) return;
  const Running run(k_saves);
  const Output stopped = run.dtsubmit({"stop", "last", "--wait"});
  CHECK(stopped.exit_code == 85);
  CHECK(contains(stopped.out, "dtsubmit run --continue"));
  CHECK(contains(stopped.err, "asked for by `dtsubmit stop`; every rank saved"));
  CHECK_FALSE(contains(stopped.err, "attempt 1 begins"));  // this attempt began earlier
  CHECK(run.end() == 85);
  CHECK(run.story() == k_stopped);
  const Output again = run.dtsubmit({"stop", "last"});
  CHECK(again.exit_code == 0);
  CHECK(contains(again.out, "nothing is left to stop"));
  CHECK(run.nothing_is_left());
}

TEST_CASE("dtsubmit stop ends a run between its attempts, too") {
  if (!Session::has_mpirun()) return;
  // Without the stop, the run would pause for longer and longer, and never give up.
  const Session session;
  const pid_t pid =
      session.begin({"run", "--on", "checkpointed=restart:unlimited", "--", "sh", "-c", "exit 85"});
  REQUIRE(wait_until([&] {
    const auto runs = run::list_runs(session.file("runs"));
    if (runs.empty()) return false;
    const auto events = run::read_ledger(runs.back().ledger());
    return events && events->back().is<run::Decided>() && events->back().attempt >= 3;
  }));
  CHECK(session.dtsubmit({"stop", "last", "--wait"}).exit_code == 85);
  int status = 0;
  CHECK(wait_until([&] { return ::waitpid(pid, &status, WNOHANG) == pid; }));
  const auto events = run::read_ledger(session.newest_run().ledger());
  CHECK(run::ends_run(events->back()));
  CHECK(contains(run::detail_of(events->back()), "asked for by `dtsubmit stop`"));
  CHECK(session.survivors().empty());
}

TEST_CASE("a second Ctrl-C does not wait for a program that will not stop") {
  if (!Session::has_mpirun()) return;
  const Running run(k_never_stops);
  run.signal(SIGINT);
  ::usleep(500'000);
  CHECK_FALSE(run.survivors().empty());
  run.signal(SIGINT);
  CHECK(run.end() == 130);
  CHECK(run.nothing_is_left());
}

TEST_CASE("kill -9 of dtsubmit itself: the ranks save or are killed, and nothing is left") {
  if (!Session::has_mpirun()) return;
  const Running run(k_saves);
  run.signal(SIGKILL);
  CHECK(run.end() == 137);
  CHECK(run.nothing_is_left());
  // The next attempt reports how the previous one ended.
  CHECK(run.dtsubmit({"run", "--continue", "last"}).exit_code == 0);
  const Words story = run.story();
  CHECK(std::find(story.begin(), story.end(), "attempt_ended:agent_lost") != story.end());
}

TEST_CASE(
    "a rank process that is killed leaves no worker that could write beside the next attempt") {
  if (!Session::has_mpirun()) return;
  const Running run(
      "import os, subprocess, sys, time\n"
      "if os.environ['DTSUBMIT_ATTEMPT'] != '1': sys.exit(0)\n"
      "subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
      "folder = os.environ['DTSUBMIT_RUN_DIR']\n"
      "open(folder + '/rank-process-' + os.environ['RANK'], 'w').write(str(os.getppid()))\n"
      "open(folder + '/ready-' + os.environ['RANK'], 'w').close()\n"
      "time.sleep(300)\n");
  const auto rank = parse_number(read_file(run.newest_run().path + "/rank-process-1").value());
  REQUIRE(rank);
  REQUIRE(::kill(static_cast<pid_t>(*rank), SIGKILL) == 0);
  CHECK(run.end() == 0);
  CHECK(run.story().at(3) == "attempt_ended:rank_killed");
  CHECK(run.survivors().empty());
}

TEST_CASE("mpirun that is killed ends the attempt as a crash; the next one runs") {
  if (!Session::has_mpirun()) return;
  const Running run(k_saves);
  bool killed = false;
  for (const pid_t pid : run.survivors()) {
    const std::string name = read_file("/proc/" + std::to_string(pid) + "/comm").value_or("");
    if (name == "mpirun\n" || name == "prterun\n")  // its name in Open MPI 5
      killed = ::kill(pid, SIGKILL) == 0;
  }
  REQUIRE(killed);
  CHECK(run.end() == 0);
  CHECK(run.story().at(3) == "attempt_ended:launcher_died");
  CHECK(run.survivors().empty());
}

TEST_CASE("a child of the shell that became dtsubmit is not ours to kill") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Output output =
      session.shell("sleep 60 >/dev/null 2>&1 & echo $! >mate; exec \"$DTSUBMIT\" run -- true");
  CHECK(output.exit_code == 0);
  const auto mate = parse_number(trim(read_file(session.file("mate")).value()));
  REQUIRE(mate);
  CHECK(session.survivors() == std::vector<pid_t>{static_cast<pid_t>(*mate)});
  ::kill(static_cast<pid_t>(*mate), SIGKILL);
}

TEST_CASE("the channel's token is in no command line and in a file for the owner only") {
  if (!Session::has_mpirun()) return;
  const Running run(k_saves);
  const std::string channel = run.newest_run().attempt(1) + "/channel.json";

  struct stat info {};

  REQUIRE(::stat(channel.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const auto document = nlohmann::json::parse(read_file(channel).value(), nullptr, false);
  REQUIRE(document.is_object());
  const std::string token = document["token"];
  REQUIRE(token.size() == 32);
  unsigned seen = 0;
  for (const pid_t pid : run.survivors()) {
    const std::string folder = "/proc/" + std::to_string(pid);
    CHECK_FALSE(contains(read_file(folder + "/cmdline").value_or(""), token));
    CHECK_FALSE(contains(read_file(folder + "/environ").value_or(""), token));
    ++seen;
  }
  CHECK(seen >= 6);  // dtsubmit, mpirun, two ranks, two programs
  for (const std::string& name :
       {std::string("agent.log"), std::string("rank-0.log"), std::string("placement.json")})
    CHECK_FALSE(contains(read_file(run.newest_run().attempt(1) + "/" + name).value_or(""), token));
  CHECK_FALSE(contains(read_file(run.newest_run().ledger()).value(), token));
  run.signal(SIGTERM);
  CHECK(run.end() == 85);
}

// Slurm may start a job again that has ended. If Slurm does not answer, the ledger decides.
TEST_CASE("a job that is started again after its end runs nothing and keeps its exit code") {
  if (!Session::has_mpirun()) return;
  Session session;
  REQUIRE(session.dtsubmit({"run", "--job-name", "t", "--", "sh", "-c", "exit 93"}).exit_code ==
          93);
  const run::RunDirectory run = session.newest_run();
  std::string ledger = read_file(run.ledger()).value();
  const std::size_t at = ledger.find("\"decided\",");
  REQUIRE(at != std::string::npos);
  ledger.insert(at + std::string("\"decided\",").size(), "\"job\":4242,");
  REQUIRE(write_file(run.ledger(), ledger));
  session.environment["SLURM_CONF"] = "/nonexistent";
  session.environment["SLURM_JOB_ID"] = "4242";
  const Output again = session.dtsubmit({"agent", "--run", run.path});
  CAPTURE(again.err);
  CHECK(again.exit_code == 93);
  CHECK(contains(again.err, "has ended in this job (the program exited 93: do not restart)"));
  CHECK(read_file(run.ledger()).value() == ledger);
  session.environment["SLURM_JOB_ID"] = "4243";  // another job of the run
  CHECK_FALSE(
      contains(session.dtsubmit({"agent", "--run", run.path}).err, "has ended in this job"));
}

TEST_CASE("a run works in its folder, from wherever it is started and continued") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const std::string job = session.file("job.toml"), runs = " --runs " + session.file("runs");
  REQUIRE(write_file(job,
                     "chdir = \"" + session.file("work") +
                         "\"\ncommand = [\"sh\", \"-c\", \"pwd; test $DTSUBMIT_ATTEMPT = 2\"]\n"));
  const Output missing = session.shell("\"$DTSUBMIT\" run " + job + runs);
  CHECK(missing.exit_code == 3);
  CHECK(contains(missing.err, "chdir: " + session.file("work") + ": No such file or directory"));
  const Output first = session.shell("mkdir work other; \"$DTSUBMIT\" run " + job + runs);
  CHECK(first.exit_code == 1);
  CHECK(first.out == session.file("work") + "\n");
  const Output again = session.shell("cd other && \"$DTSUBMIT\" run --continue last" + runs);
  CHECK(again.exit_code == 0);
  CHECK(again.out == session.file("work") + "\n");
}
