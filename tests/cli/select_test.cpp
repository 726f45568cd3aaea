// SPDX-License-Identifier: Apache-2.0
// status, logs, cancel and requeue on hand-made run directories: which run is selected, what is
// reported, and all ways in which a run can be missing.
#include "core/run/directory/lease.hpp"
#include "core/run/index/index.hpp"
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>

namespace {

using namespace dts;
using namespace dts::tests;

// A run that was preempted once and then completed.
struct Finished : Session {
  std::string name = "cnn2-20260102T030405-abcdef";

  Finished() {
    environment["SLURM_CONF"] = "/nonexistent/slurm.conf";
    run::Files files{"{}", "{}", "", "{}", ""};
    const auto run = run::create_run_directory(file("runs"), name, files);
    REQUIRE(run);
    unsigned minute = 10;  // between two events
    const auto note = [&](run::Event event) {
      event.time = "2026-01-02T03:" + std::to_string(minute++) + ":05Z";
      REQUIRE(run::append_event(run->ledger(), event));
    };
    note({.what = run::Created{}});
    note({.job = JobId(41), .what = run::Submitted{}});
    note({.attempt = 1, .job = JobId(41), .what = run::AttemptStarted{.nodes = {"n1", "n2"}}});
    note({.attempt = 1, .job = JobId(41), .what = run::RanksStarted{}});
    note({.attempt = 1,
          .job = JobId(41),
          .what = run::AttemptEnded{.cause = run::Cause::preempted,
                                    .exit_code = 85,
                                    .detail = "preempted; every rank saved"}});
    note({.attempt = 1,
          .job = JobId(41),
          .what = run::Decided{.exit_code = 0, .decision = run::Action::requeue}});
    note({.attempt = 2, .job = JobId(41), .what = run::AttemptStarted{.nodes = {"n3", "n4"}}});
    note({.attempt = 2, .job = JobId(41), .what = run::RanksStarted{}});
    note({.attempt = 2,
          .job = JobId(41),
          .what = run::AttemptEnded{.cause = run::Cause::completed, .exit_code = 0}});
    note({.attempt = 2,
          .job = JobId(41),
          .what = run::Decided{.exit_code = 0, .decision = run::Action::done}});
    REQUIRE(write_file(
        run->metrics(),
        "{\"event\":\"start\",\"attempt\":1,\"step\":0}\n"
        "{\"event\":\"step\",\"attempt\":1,\"step\":60,\"digest\":\"0123456789abcdef\"}\n"
        "{\"event\":\"start\",\"attempt\":2,\"step\":50}\n"
        "{\"event\":\"done\",\"attempt\":2,\"step\":100,\"accuracy\":0.9012,\"digest\":"
        "\"fedcba9876543210\"}\n"));
    for (unsigned attempt = 1; attempt <= 2; ++attempt) {
      REQUIRE(make_folders(run->attempt(attempt)));
      REQUIRE(write_file(run->attempt(attempt) + "/epoch", ""));
      REQUIRE(write_file(run->attempt(attempt) + "/agent.log",
                         "agent " + std::to_string(attempt) + "\n"));
      for (unsigned rank = 0; rank < 2; ++rank)
        REQUIRE(
            write_file(run->rank_log(attempt, rank),
                       "rank " + std::to_string(rank) + " of " + std::to_string(attempt) + "\n"));
    }
  }
};

}  // namespace

TEST_CASE("the status of a run is a table of its attempts, as it was") {
  const Finished session;
  const Output output = session.dtsubmit({"status"});
  CHECK(output.exit_code == 0);
  CHECK(output.err.empty());
  check_golden("status.txt", session.normal(output.out));
}

TEST_CASE("a scheduler that cannot be asked is mentioned where the state of a job matters") {
  const Finished session;
  const auto runs = run::list_runs(session.file("runs"));
  REQUIRE(run::append_event(runs.back().ledger(),
                            {.attempt = 3, .job = JobId(41), .what = run::AttemptStarted{}}));
  const Output output = session.dtsubmit({"status"});
  CHECK(output.exit_code == 0);
  CHECK(
      contains(output.err, "the state of job 41 is not known: cannot read Slurm's configuration"));
  CHECK(contains(session.dtsubmit({"status", "--json"}).out, R"("state": "unknown")"));
}

TEST_CASE("the status in JSON has every number of the table") {
  const Finished session;
  const Output output = session.dtsubmit({"status", "41", "--json"});
  const auto document = nlohmann::json::parse(output.out, nullptr, false);
  REQUIRE(document.is_object());
  CHECK(document["schema"] == "dtsubmit/status/1");
  CHECK(document["job"] == 41);
  CHECK(document["state"] == "done");
  CHECK(document["done"] == true);
  CHECK(document["steps_lost"] == 10);
  CHECK(document["accuracy"] == doctest::Approx(0.9012));
  CHECK(document["digest"] == "fedcba9876543210");
  REQUIRE(document["attempts"].size() == 2);
  CHECK(document["attempts"][0]["cause"] == "preempted");
  CHECK(document["attempts"][0]["nodes"] == Words{"n1", "n2"});
  CHECK(document["attempts"][1]["first_step"] == 50);
  CHECK(document["seconds"]["wall"] == 540);
  CHECK(document["seconds"]["queued"] == 120);
  CHECK(document["seconds"]["lost"] == 10);
  CHECK(document["attempts"][1]["seconds"]["computing"] == 60);
}

TEST_CASE("a run is meant by job id, name, folder or `last`, from any folder") {
  Finished session;
  const std::string folder = session.file("runs/" + session.name);
  for (const std::string& what : {std::string("41"),
                                  session.name,
                                  folder,
                                  folder + "/",
                                  "runs/" + session.name,
                                  std::string("last")})
    CHECK(session.dtsubmit({"status", what}).exit_code == 0);
  session.environment["DTSUBMIT_RUNS"] = session.file("runs");
  CHECK(session.dtsubmit({"status"}).exit_code == 0);
  CHECK(session.dtsubmit({"status", "--runs", "elsewhere"}).exit_code == 6);
}

TEST_CASE("logs are of the newest attempt and rank 0, or of those asked for") {
  const Finished session;
  CHECK(session.dtsubmit({"logs"}).out == "rank 0 of 2\n");
  CHECK(session.dtsubmit({"logs", "41", "--rank", "1"}).out == "rank 1 of 2\n");
  CHECK(session.dtsubmit({"logs", "--rank", "1", "--attempt", "1"}).out == "rank 1 of 1\n");
  CHECK(session.dtsubmit({"logs", "--agent"}).out == "agent 2\n");
}

TEST_CASE("following the logs of a run that is over shows them and ends") {
  const Finished session;
  const Output output = session.dtsubmit({"logs", "-f"});
  CHECK(output.exit_code == 0);
  CHECK(output.out == "rank 0 of 2\n");
}

TEST_CASE("what is not there is exit code 6, with a hint") {
  const Finished session;
  for (const Words& words : std::vector<Words>{{"status", "42"},
                                               {"status", "nobody"},
                                               {"status", "/nonexistent"},
                                               {"status", "."},
                                               {"status", "--runs", "/nonexistent"},
                                               {"logs", "42"},
                                               {"logs", "--rank", "2"},
                                               {"logs", "--attempt", "3"},
                                               {"cancel", "42"},
                                               {"requeue", "42"},
                                               {"run", "--continue", "nobody"}}) {
    CAPTURE(words.back());
    const Output output = session.dtsubmit(words);
    CHECK(output.exit_code == 6);
    CHECK(output.out.empty());
    CHECK(contains(output.err, "dtsubmit: error:"));
    CHECK(contains(output.err, "help:"));
  }
}

TEST_CASE("cancel needs the scheduler, and a complete run is not requeued: both write nothing") {
  const Finished session;
  const std::string ledger = read_file(session.newest_run().ledger()).value();
  const Output cancelled = session.dtsubmit({"cancel", "41"});
  CHECK(cancelled.exit_code == 4);
  CHECK(contains(cancelled.err, "dtsubmit: error:"));
  const Output requeued = session.dtsubmit({"requeue", "41"});
  CHECK(requeued.exit_code == 3);
  CHECK(contains(requeued.err, "has been complete since"));
  CHECK(contains(requeued.err, "nothing is left to run"));
  CHECK(read_file(session.newest_run().ledger()).value() == ledger);
}

TEST_CASE("damaged lines are passed over with a warning that names them, wherever they are") {
  const Finished session;
  const std::string ledger = session.newest_run().ledger();
  const std::string metrics = session.newest_run().metrics();
  const std::string whole = session.dtsubmit({"status"}).out;
  const std::string text = read_file(ledger).value();
  const std::size_t middle = text.find('\n', text.size() / 2) + 1;
  const std::string ruin = "{\"time\":\"2026-01" + std::string(4096, '\0') + "\n";
  REQUIRE(write_file(ledger, text.substr(0, middle) + ruin + text.substr(middle) + "nonsense\n"));
  REQUIRE(write_file(metrics, ruin + read_file(metrics).value()));
  const Output status = session.dtsubmit({"status"});
  CHECK(status.exit_code == 0);
  CHECK(status.out == whole);
  CHECK(contains(status.err, "dtsubmit: warning: " + ledger + ": lines "));
  CHECK(contains(status.err, ",12 are damaged and skipped"));
  CHECK(contains(status.err, metrics + ": line 1 is damaged and skipped"));
  CHECK(contains(session.dtsubmit({"why"}).err, ": lines "));
  const Output requeue = session.dtsubmit({"requeue", "41"});
  CHECK(requeue.exit_code == 3);  // it was read, and the run is complete
  CHECK(contains(requeue.err, "nothing is left to run"));
  CHECK(session.dtsubmit({"cancel", "41"}).exit_code == 4);  // only the scheduler is missing
}

TEST_CASE(
    "where the ledger is gone the run is still found, and its job is known from its attempts") {
  const Finished session;
  const run::RunDirectory run = session.newest_run();
  REQUIRE(remove_all(run.ledger()));
  REQUIRE(write_file(
      run.attempt(2) + "/epoch",
      run::to_json(run::Lease{.job = JobId(41), .restart_count = 1, .node = "n3", .pid = 7})));
  const Output status = session.dtsubmit({"status", "last"});
  CHECK(status.exit_code == 0);
  CHECK(contains(status.err, "ledger.jsonl is gone"));
  CHECK(session.dtsubmit({"cancel", "last"}).exit_code == 4);
}

TEST_CASE("half a last line, as a crash leaves it, does not hide the run") {
  const Finished session;
  const std::string ledger = session.newest_run().ledger();
  REQUIRE(write_file(ledger, read_file(ledger).value() + "{\"time\":\"20"));
  CHECK(session.dtsubmit({"status"}).exit_code == 0);
}

TEST_CASE("what a finished run does not have is named") {
  const Finished session;
  const auto error = [&](const Words& words) {
    const Output output = session.dtsubmit(words);
    CHECK(output.exit_code != 0);
    CHECK(output.out.empty());
    return output.err;
  };
  CHECK(contains(error({"logs", "last", "--attempt", "9"}), "no attempt 9; the newest is 2"));
  CHECK(contains(error({"logs", "last/train"}), "has no part `train`"));
  CHECK(contains(error({"status", "last", "--metric", "loss:min"}), "elements of a sweep"));
  const std::string both = error({"cancel", "12", "abc"});
  CHECK(both.find("no run of `12`") < both.find("no run of `abc`"));
}

TEST_CASE("a run is found by its job's name, unless another run has it, too") {
  const Finished session;
  CHECK(contains(session.dtsubmit({"status", "cnn2"}).out, session.name));
  CHECK(session.dtsubmit({"status", "cnn"}).exit_code == 6);
  const auto other = run::create_run_directory(
      session.file("runs"), "cnn2-20260102T030406-abcdef", {"{}", "{}", "", "{}", ""});
  REQUIRE(other);
  const Output both = session.dtsubmit({"cancel", "cnn2"});
  CHECK(both.exit_code == 6);
  CHECK(contains(both.err, "2 runs in " + session.file("runs") + " are named `cnn2`"));
  CHECK(
      contains(both.err, "newest first: cnn2-20260102T030406-abcdef, cnn2-20260102T030405-abcdef"));
  CHECK(contains(session.dtsubmit({"status", session.name}).out, session.name));
}

TEST_CASE("an id of a job is never taken for a job's name, nor is that of a run elsewhere") {
  const Finished session;
  const auto add = [&](const std::string& folder, const std::string& name) {
    const auto run =
        run::create_run_directory(session.file(folder), name, {"{}", "{}", "", "{}", ""});
    REQUIRE(run);
    return run->path;
  };
  for (const char* name : {"77", "77_3", "q7.alpha"})
    add("runs", std::string(name) + "-20260103T030405-abcdef");
  for (const char* job : {"77", "77_3"}) {
    const Output cancel = session.dtsubmit({"cancel", job});
    CHECK(cancel.exit_code == 6);
    CHECK(contains(cancel.err, "no run of `" + std::string(job) + "` in "));
  }
  CHECK(contains(session.dtsubmit({"status", "q7.alpha"}).out, "/runs/q7.alpha-"));
  const std::string elsewhere = add("other", "train-20260103T030405-abcdef");
  REQUIRE(make_folders(session.file(".local/state/dtsubmit")));
  REQUIRE(write_file(
      session.file(".local/state/dtsubmit/runs.jsonl"),
      run::to_line({elsewhere, JobId::parse("q7.alpha").value(), "/nonexistent/slurm.conf"}) + "\n",
      0600));
  CHECK(contains(session.dtsubmit({"status", "q7.alpha"}).out, elsewhere));
}
