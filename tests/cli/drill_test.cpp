// SPDX-License-Identifier: Apache-2.0
// dtsubmit drill of a `dtsubmit run`, and what it refuses. Drills on a private Slurm are in
// tests/integration.
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace {

using namespace dts;
using namespace dts::tests;

// Attempt 1 works until it is killed; later attempts succeed at once.
const char* const k_works =
    "import os, time\n"
    "open(os.environ['DTSUBMIT_RUN_DIR'] + '/ready-' + os.environ['RANK'], 'w').close()\n"
    "if os.environ['DTSUBMIT_ATTEMPT'] == '1': time.sleep(600)\n";

}  // namespace

TEST_CASE("a rank of a real run is killed only where that was said; then the run comes back") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const pid_t pid =
      session.begin({"run", "--ntasks-per-node", "2", "--", "python3", "-c", k_works});
  REQUIRE(wait_until([&] {
    const auto runs = run::list_runs(session.file("runs"));
    const auto events =
        runs.empty() ? Result<std::vector<run::Event>>{} : run::read_ledger(runs.back().ledger());
    return events && !events->empty() && events->back().is<run::RanksStarted>();
  }));
  const Output unsaid = session.dtsubmit({"drill", "rank-kill", "last"});
  CHECK(unsaid.exit_code == 2);
  CHECK(contains(unsaid.err, "kills the program of one rank"));
  CHECK(contains(unsaid.err, "--yes"));
  const Output refused = session.dtsubmit({"drill", "agent-kill", "last", "--yes"});
  CHECK(refused.exit_code == 3);
  CHECK(contains(refused.err, "rank-kill, hang and slow"));
  const Output nobody = session.dtsubmit({"drill", "hang", "last", "--yes", "--rank", "9"});
  CHECK(nobody.exit_code == 6);
  CHECK(contains(nobody.err, "rank 9"));
  CHECK(::kill(pid, 0) == 0);

  const Output drilled =
      session.dtsubmit({"drill", "rank-kill", "last", "--yes", "--rank", "1", "--json"});
  CAPTURE(drilled.err);
  CHECK(drilled.exit_code == 0);
  const auto report = nlohmann::json::parse(drilled.out).at("drills").at(0);
  CHECK(report.at("verdict") == "ok");
  CHECK(report.at("cause") == "rank_killed");
  CHECK(report.at("decision") == "restart");
  CHECK(report.at("processes_left") == 0);
  int status = 0;
  CHECK(wait_until([&] { return ::waitpid(pid, &status, WNOHANG) == pid; }));
  CHECK(exit_code_of_wait_status(status) == 0);
  CHECK(session.survivors().empty());

  const Output late = session.dtsubmit({"drill", "rank-kill", "last", "--yes"});
  CHECK(late.exit_code == 3);
  CHECK(contains(late.err, "has no running programs"));
}

TEST_CASE("a drill is refused before anything is started") {
  const Session session;
  for (const auto& [words, says] : std::vector<std::pair<Words, const char*>>{
           {{"drill"}, "fault is required"},
           {{"drill", "earthquake"}, "preempt, timeout, rank-kill"},
           {{"drill", "all", "last"}, "one fault at a time"}}) {
    const Output output = session.dtsubmit(words);
    CHECK(output.exit_code == 2);
    CHECK(contains(output.err, says));
  }
  CHECK(session.dtsubmit({"drill", "slow", "last", "--yes"}).exit_code == 6);
}
