// SPDX-License-Identifier: Apache-2.0
// Runs whose disk, ledger or standard streams fail: a run never ends without a message, and no
// command is killed by a signal.
#include "core/run/ledger/history.hpp"
#include "tests/cli/session.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/small_disk.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace dts;
using namespace dts::tests;

constexpr unsigned k_disk_kib = 24 << 10;  // the pre-flight requires 16 MiB

Words program(const std::string& script, const Words& options = {}) {
  Words words{"run", "--runs", "disk", "-c", "1"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return words;
}

// A session whose folder `disk` is a small file system.
struct SmallDisk : Session {
  std::string disk = file("disk");
  bool possible = false;

  SmallDisk() {
    REQUIRE(make_folders(disk));
    const auto mount = [this] { return mount_small_disk(disk, k_disk_kib) ? 0 : 1; };
    possible = ::geteuid() == 0 && has_mpirun() && tests::in_child(mount) == 0;
    if (!possible) MESSAGE("skipped: only root can mount a file system here");
    in_child = mount;
  }
};

}  // namespace

TEST_CASE("a standard stream that is closed or full ends no command by a signal") {
  const Session session;
  const auto code = [&](const std::string& line) {
    return session.shell("\"$DTSUBMIT\" " + line + "; echo $? >code").exit_code == 0
               ? read_file(session.file("code")).value()
               : "?";
  };
  CHECK(code("status nope 2>&-") == "6\n");
  CHECK(code("status nope 2>/dev/full") == "6\n");
  CHECK(code("status nope >&- 2>&-") == "6\n");
  CHECK(code("status nope <&- >&- 2>&-") == "6\n");
  CHECK(code("--nonsense 2>&-") == "2\n");
  CHECK(code("--help >&- 2>&-") == "74\n");
  CHECK(code("--help >/dev/full 2>/dev/full") == "74\n");
  CHECK(code("--version >/dev/full 2>/dev/full") == "74\n");
  if (!Session::has_mpirun()) return;
  CHECK(session.shell("\"$DTSUBMIT\" run -c 1 -- echo word").exit_code == 0);
  CHECK(code("logs last >/dev/full 2>words") == "74\n");
  CHECK(contains(read_file(session.file("words")).value(), "No space left on device"));
}

TEST_CASE("an agent whose standard error is closed does not write its words into its files") {
  if (!Session::has_mpirun()) return;
  const Session session;
  CHECK(session.shell("\"$DTSUBMIT\" run -c 1 -- true <&- >&- 2>&-").exit_code == 0);
  const auto ledger = run::load_ledger(session.newest_run().ledger());
  REQUIRE(ledger);
  CHECK(ledger->damaged.empty());
  CHECK(run::is_done(ledger->events));
}

TEST_CASE(
    "a ledger that takes nothing any more does not end its agent, and what it lacks is said") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Output output = session.dtsubmit(program(
      "sleep 1; cd $DTSUBMIT_RUN_DIR && mv ledger.jsonl aside && mkdir ledger.jsonl && sleep 1"));
  CAPTURE(output.err);
  CHECK(output.exit_code == 0);
  CHECK(contains(output.err, "not in the ledger: {"));
  CHECK(contains(output.err, "\"decision\":\"done\""));
}

TEST_CASE("a disk that stays full uses up its budget and ends with the code of an I/O error") {
  const SmallDisk session;
  if (!session.possible) return;
  const Output output = session.dtsubmit(
      program("cat /dev/zero >" + session.disk + "/fill; exit 1", {"--on", "disk=restart:2"}));
  CAPTURE(output.err);
  CHECK(output.exit_code == 74);
  CHECK(contains(output.err, "No space left"));
  CHECK(contains(output.err, "disk 3, over the budget of 2"));
}

TEST_CASE("an agent outlives a file system that turns read-only, and says what it cannot record") {
  if (!Session::has_mpirun()) return;
  Session session;
  const std::string disk = session.file("disk"), image = session.file("image");
  const auto mount = [&] {
    const bool is_alone = ::unshare(CLONE_NEWNS) == 0 &&
                          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    return is_alone && std::system(("mount -o loop " + image + " " + disk).c_str()) == 0 ? 0 : 1;
  };
  const std::string make = "truncate -s 32M " + image + " && /usr/sbin/mkfs.ext4 -q " + image;
  if (session.shell(make).exit_code != 0 || !make_folders(disk) || tests::in_child(mount) != 0) {
    MESSAGE("skipped: no mkfs.ext4 here, or no root who may mount an image");
    return;
  }
  session.in_child = mount;
  session.environment["DTSUBMIT_STORAGE_LIMIT"] = "2s";
  const Output output = session.dtsubmit(
      program("mount -o remount,abort " + disk + "; sleep 1; exit 7", {"--on", "crash=restart:1"}));
  CAPTURE(output.err);
  CHECK(output.exit_code == 74);
  CHECK(contains(output.err, "Read-only file system"));
  CHECK(contains(output.err, "not in the ledger: {"));
  CHECK(contains(output.err, "attempt 1: storage_error (rank 0 on"));
  CHECK(contains(output.err, "no attempt could begin: storage_error (cannot create"));
}

TEST_CASE("a run comes back from a file system that fails for a while under its agent") {
  if (!Session::has_mpirun()) return;
  if (k_sanitized) {
    MESSAGE("skipped: a sanitizer's library must be loaded first");
    return;
  }

  struct Fault {
    std::string calls;
    std::string words;
  };

  for (const Fault& fault :
       {Fault{"mkdir 116 1 2 /attempt-1", "/attempt-1: Stale file handle; trying again in 2 s"},
        Fault{"mkdir 110 1 1 /attempt-1", "/attempt-1: Connection timed out; trying again in 1 s"},
        Fault{"access 116 1 2 /ledger.jsonl;access 116 1 2 /plan.json",
              "/ledger.jsonl: Stale file handle; trying again in 1 s"},
        Fault{"create 30 1 1 /epoch", "/epoch: Read-only file system; trying again in 1 s"},
        Fault{"create 5 1 1 /channel.json", "attempt 1: storage_error (cannot create"},
        Fault{"fsync 5 3 3 /ledger.jsonl", "attempt 1: completed"}}) {
    CAPTURE(fault.calls);
    Session session;
    session.environment["LD_PRELOAD"] = std::getenv("DTS_FAILING_CALLS_LIBRARY");
    session.environment["DTS_FAILING_CALLS"] = fault.calls;
    const Output output = session.dtsubmit({"run", "-c", "1", "--", "true"});
    CAPTURE(output.err);
    CHECK(output.exit_code == 0);
    CHECK(contains(output.err, fault.words));
    // Each event once, although the disk took one of them and then said that it did not.
    const auto story = session.story();
    CHECK(std::count(story.begin(), story.end(), "ranks_started") == 1);
    CHECK(story.back() == "decided:done");
  }
}

TEST_CASE("a run directory that is removed under its ranks ends the run at once, and stays away") {
  if (!Session::has_mpirun()) return;
  for (const std::string& after : {std::string("sleep 300"), std::string("exit 0")}) {
    CAPTURE(after);
    const Session session;
    const auto began = std::chrono::steady_clock::now();
    const Output output = session.dtsubmit(
        program("sleep 1; rm -rf \"$DTSUBMIT_RUN_DIR\"; " + after, {"--log-timestamps"}));
    CAPTURE(output.err);
    CHECK(output.exit_code == 74);
    CHECK(contains(output.err, "run_vanished"));
    CHECK(contains(output.err, "has vanished: it was removed, moved or unmounted"));
    CHECK(list_folder(session.file("disk")).empty());
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(60));
  }
}

TEST_CASE("a run that lacks what it needs ends with a cause in status and why") {
  if (!Session::has_mpirun()) return;

  struct Loss {
    std::string what;
    std::string shell;
    std::string words;
  };

  for (const Loss& loss : {Loss{"no plan", "rm $R/plan.json", "plan.json"},
                           Loss{"a torn plan", "echo '{' >$R/plan.json", "plan"},
                           Loss{"a torn spec", "echo '{' >$R/spec.json", "spec.json"},
                           Loss{"an attempt that is a file", "echo >$R/attempt-2", "attempt-2"},
                           Loss{"checkpoints that are a file",
                                "rm -rf $R/checkpoints && echo >$R/checkpoints",
                                "checkpoints"}}) {
    CAPTURE(loss.what);
    const Session session;
    CHECK(session.dtsubmit({"run", "-c", "1", "--", "sh", "-c", "exit 3"}).exit_code == 3);
    REQUIRE(session.shell("R=$(echo runs/*); " + loss.shell).exit_code == 0);
    const Output again = session.dtsubmit({"run", "--continue", "last"});
    CAPTURE(again.err);
    CHECK(again.exit_code != 0);
    CHECK(contains(again.err, loss.words));
    const Output status = session.dtsubmit({"status"});
    CHECK(status.exit_code == 0);
    CHECK(contains(status.out, "run_damaged"));
    CHECK(contains(status.out, loss.words));
    const Output why = session.dtsubmit({"why"});
    CHECK(why.exit_code == 0);
    CHECK(contains(why.out, "run_damaged"));
    CHECK(contains(why.out, loss.words));
  }
}

TEST_CASE("a pipe where a run has files holds nobody up") {
  if (!Session::has_mpirun()) return;
  const Session session;
  for (const char* make : {"mkfifo", "mkdir", "ln -s /dev/zero"}) {
    CAPTURE(make);
    const std::string program = std::string(make) + " \"$DTSUBMIT_RUN_DIR/metrics.jsonl\"; exit 3";
    CHECK(session.shell("timeout 60 $DTSUBMIT run -c 1 -- sh -c '" + program + "'").exit_code == 3);
    for (const char* verb : {"status", "why", "list"})
      CHECK(session.shell(std::string("timeout 60 $DTSUBMIT ") + verb).exit_code == 0);
  }
  const std::string pipe =
      "mkfifo $DTSUBMIT_CHECKPOINT_DIR/pipe $DTSUBMIT_RUN_DIR/attempt-1/rank-7.log";
  CHECK(session.shell("timeout 60 $DTSUBMIT run -c 1 -- sh -c '" + pipe + "; exit 3'").exit_code ==
        3);
  CHECK(session.shell("timeout 60 $DTSUBMIT run --continue last").exit_code == 3);
  CHECK(session.shell("timeout 60 $DTSUBMIT logs --rank all").exit_code == 0);
}

TEST_CASE("an agent that does not see its run directory says where that belongs") {
  Session session;
  const Output job =
      session.dtsubmit({"agent", "--run", session.file("private"), "--guarded", "yes"});
  CHECK(job.exit_code == 6);
  CHECK(contains(job.err, " does not see the run directory " + session.file("private")));
  CHECK(contains(job.err, "on a file system that all nodes share"));
  CHECK(contains(job.err, "--runs FOLDER"));
}

TEST_CASE("an agent waits for the files of a run directory that its node sees late") {
  Session session;
  REQUIRE(session.dtsubmit({"run", "-c", "1", "--", "true"}).exit_code == 0);
  const Output job = session.shell(
      "run=$(echo $PWD/runs/*); mkdir late; (sleep 3; cp $run/* late/ 2>/dev/null) & "
      "$DTSUBMIT agent --run $PWD/late --guarded yes");
  CHECK(job.exit_code == 0);
  CHECK(contains(job.err, "late yet: waiting for its files"));
  CHECK(contains(job.err, "late is complete: nothing is left to do"));
}
