// SPDX-License-Identifier: Apache-2.0
// If somebody else planted `runs` in a folder, nothing in it is read, shown or executed.
#include "tests/cli/session.hpp"

#include <sys/stat.h>

namespace {

using namespace dts;
using namespace dts::tests;

constexpr uid_t k_stranger = 4242;

// A run with one rank, which leaves a file behind where it is executed.
struct Planted : Session {
  run::RunDirectory run;
  std::string proof = file("executed");

  Planted() {
    environment["SLURM_CONF"] = "/nonexistent/slurm.conf";
    REQUIRE(dtsubmit({"run", "-c", "1", "--", "/bin/true"}).exit_code == 0);
    run = newest_run();
    std::string plan = read_file(run.plan()).value();
    const std::size_t program = plan.find("\"/bin/true\"");
    REQUIRE(program != std::string::npos);
    plan.replace(program, 11, R"("/usr/bin/touch",")" + proof + "\"");
    REQUIRE(write_file(run.plan(), plan));
    // Not complete, so that something is left to do.
    REQUIRE(run::append_event(run.ledger(), {.job = JobId(41), .what = run::Resumed{}}));
  }

  [[nodiscard]] static bool give_away(const std::string& path) {
    if (::lchown(path.c_str(), k_stranger, k_stranger) == 0) return true;
    MESSAGE("skipped: only root can make a file of somebody else");
    return false;
  }

  // Tries every way to open a run: by `last`, by its folder, and as an agent.
  void check_refused(const std::string& named, const std::string& why) const {
    for (const Words& words : std::vector<Words>{{"run", "--continue", "last"},
                                                 {"run", "--continue", run.path},
                                                 {"requeue", "last"},
                                                 {"requeue", "41"},
                                                 {"cancel", "last"},
                                                 {"stop", "last"},
                                                 {"status"},
                                                 {"why"},
                                                 {"logs"},
                                                 {"agent", "--run", run.path}}) {
      CAPTURE(words.front());
      const Output output = dtsubmit(words);
      CAPTURE(output.err);
      CHECK(output.exit_code == 3);
      CHECK(output.out.empty());
      CHECK(contains(output.err, "refusing " + named));
      CHECK(contains(output.err, why));
      CHECK_FALSE(exists(proof));
    }
  }
};

}  // namespace

TEST_CASE("a run of one's own is continued: the proof works") {
  const Planted session;
  if (!session.has_mpirun()) return;
  CHECK(session.dtsubmit({"run", "--continue", "last"}).exit_code == 0);
  CHECK(exists(session.proof));
}

TEST_CASE("a run directory of somebody else is refused by its name") {
  const Planted session;
  if (!session.give_away(session.run.path)) return;
  session.check_refused(session.run.path, "belongs to user 4242");
}

TEST_CASE("a run directory that others may write to is refused by its name") {
  const Planted session;
  REQUIRE(::chmod(session.run.path.c_str(), 0777) == 0);
  session.check_refused(session.run.path, "can be written by others");
}

TEST_CASE("a `runs` that somebody else planted is no way to his run, be it a folder or a link") {
  const Planted session;
  const std::string theirs = session.file("theirs"), runs = session.file("runs");
  if (!session.give_away(session.run.path)) return;
  REQUIRE(::rename(runs.c_str(), theirs.c_str()) == 0);
  REQUIRE(::symlink(theirs.c_str(), runs.c_str()) == 0);
  CHECK(contains(session.dtsubmit({"requeue", "last"}).err, "belongs to user 4242"));
  REQUIRE(session.give_away(runs));
  for (const Words& words : std::vector<Words>{
           {"run", "--continue", "last"}, {"requeue", "last"}, {"status"}, {"cancel", "41"}}) {
    const Output output = session.dtsubmit(words);
    CHECK(output.exit_code == 3);
    CHECK(contains(output.err, "refusing runs: it is a link that user 4242 made"));
  }
  CHECK_FALSE(exists(session.proof));
}

TEST_CASE("a link of somebody else to a run of one's own is no run of `last`") {
  const Planted session;
  const std::string link = session.file("runs/zz-99991231T235959-ffffff");
  REQUIRE(::symlink(session.run.path.c_str(), link.c_str()) == 0);
  if (!session.give_away(link)) return;
  CHECK(contains(session.dtsubmit({"status", "last"}).out, session.run.path));
  CHECK(contains(session.dtsubmit({"status", link}).err, "a link that user 4242 made"));
}

TEST_CASE("a plan that is not one's own alone is not executed, and the ledger says why") {
  const Planted session;
  if (!session.has_mpirun()) return;
  REQUIRE(::chmod(session.run.plan().c_str(), 0666) == 0);
  const Output output = session.dtsubmit({"run", "--continue", "last"});
  CHECK(output.exit_code == 3);
  CHECK(contains(output.err, "refusing " + session.run.plan() + ": it can be written by others"));
  CHECK_FALSE(exists(session.proof));
  REQUIRE(::chmod(session.run.plan().c_str(), 0600) == 0);
  if (!session.give_away(session.run.plan())) return;
  CHECK(contains(session.dtsubmit({"run", "--continue", "last"}).err, "belongs to user 4242"));
  CHECK_FALSE(exists(session.proof));
}

TEST_CASE("sticky and group-shared project folders hold the runs of several people") {
  const Planted session;
  if (!session.has_mpirun()) return;
  const std::string theirs = session.file("runs/zz-99991231T235959-ffffff");
  REQUIRE(make_folders(theirs));
  REQUIRE(write_file(theirs + "/ledger.jsonl", "", 0644));
  if (!session.give_away(theirs)) return;
  for (const mode_t mode : {01777U, 02775U, 0777U}) {
    REQUIRE(::chmod(session.path.c_str(), mode) == 0);
    REQUIRE(::chmod(session.file("runs").c_str(), mode) == 0);
    CHECK(session.dtsubmit({"run", "-c", "1", "--", "/bin/true"}).exit_code == 0);
    // The latest of the user's own runs.
    CHECK(contains(session.dtsubmit({"status", "last"}).out, "/true-"));
  }
  CHECK(contains(session.dtsubmit({"status", "zz-99991231T235959-ffffff"}).err,
                 "belongs to user 4242"));
}
