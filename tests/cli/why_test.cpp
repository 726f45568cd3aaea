// SPDX-License-Identifier: Apache-2.0
// dtsubmit why after programs that fail, without Slurm.
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>

#include <csignal>

namespace {

using namespace dts;
using namespace dts::tests;

// Rank 0 waits for ever; rank 1 does `last` once rank 0 has started.
Words two_ranks(const std::string& last) {
  const std::string program =
      "import os, signal, sys, time\n"
      "place = os.environ['DTSUBMIT_RUN_DIR'] + '/ready-' + os.environ['DTSUBMIT_ATTEMPT']\n"
      "if os.environ['RANK'] == '1':\n"
      "  while not os.path.exists(place): time.sleep(0.01)\n"
      "  " +
      last +
      "\n"
      "open(place, 'w').close()\n"
      "time.sleep(300)\n";
  return {"run",
          "--job-name",
          "t",
          "--ntasks-per-node",
          "2",
          "--on",
          "crash=restart:1",
          "--",
          "python3",
          "-c",
          program};
}

std::string why(const Session& session) {
  const Output output = session.dtsubmit({"why"});
  CHECK(output.exit_code == 0);
  CHECK(output.err.empty());
  return session.normal(output.out);
}

}  // namespace

TEST_CASE("a program that failed: the first rank, its last lines, and how to go on") {
  if (!Session::has_mpirun()) return;
  const Session session;
  REQUIRE(session.dtsubmit(two_ranks("sys.exit('out of luck')")).exit_code == 1);
  const std::string text = why(session);
  CAPTURE(text);
  CHECK(contains(text, " with exit code 1: the program failed, first rank 1"));
  CHECK(contains(text, "It was not continued: the program failed.\n"));
  CHECK(
      contains(text, "the last lines of rank 1 (/FOLDER/runs/t-TIME-ID/attempt-1/rank-1.log):\n"));
  CHECK(contains(text, "  out of luck\n"));
  CHECK(contains(text, "next: fix the program\n"));
  CHECK(contains(text, "next: dtsubmit run --continue /FOLDER/runs/t-TIME-ID   (starts over"));
}

TEST_CASE("a rank that is killed again and again: each attempt, and the budget") {
  if (!Session::has_mpirun()) return;
  const Session session;
  REQUIRE(session.dtsubmit(two_ranks("os.kill(os.getpid(), signal.SIGKILL)")).exit_code == 137);
  const std::string text = why(session);
  CAPTURE(text);
  CHECK(contains(text, "a rank was killed, or its process vanished, first rank 1"));
  CHECK(contains(text, "\nattempt 1 on "));
  CHECK(contains(text, "  then restart: crash 1 of at most 1: once more"));
  CHECK(contains(text, "\nattempt 2 on "));
  CHECK(contains(text, "\nbudgets used: crash 2 of 1\n"));
  const auto document =
      nlohmann::json::parse(session.dtsubmit({"why", "--json"}).out, nullptr, false);
  REQUIRE(document.is_object());
  CHECK(document["standing"] == "stopped");
  CHECK(document["attempts"].size() == 2);
  CHECK(document["attempts"][1]["rank"] == 1);
}

TEST_CASE("while it runs, and after its agent was killed") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const pid_t agent = session.begin(two_ranks("time.sleep(300)"));
  const auto runs_now = [&] {
    const auto runs = run::list_runs(session.file("runs"));
    const auto events =
        runs.empty() ? Result<std::vector<run::Event>>{} : run::read_ledger(runs.back().ledger());
    return events && !events->empty() && events->back().is<run::RanksStarted>();
  };
  REQUIRE(wait_until(runs_now));
  CHECK(contains(why(session), "The run has been running since "));
  ::kill(agent, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(agent, &status, 0) == agent);
  const std::string text = why(session);
  CAPTURE(text);
  CHECK(contains(text, "The agent of attempt 1 is gone and recorded no end: "));
  CHECK(contains(session.dtsubmit({"status"}).err,
                 "the agent of attempt 1 is gone and recorded no end"));
  CHECK(contains(text, "next: dtsubmit run --continue /FOLDER/runs/t-TIME-ID"));
  CHECK(wait_until([&] { return session.survivors().empty(); }));
}

TEST_CASE("no such run is exit code 6") {
  CHECK(Session().dtsubmit({"why", "42"}).exit_code == 6);
}
