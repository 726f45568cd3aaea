// SPDX-License-Identifier: Apache-2.0
// dtsubmit with a scheduler other than Slurm (tests/contract/fake_scheduler.cpp): no message
// mentions a scheduler other than the user's.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cstdio>

using namespace dts;
using namespace dts::tests;

namespace {

struct OtherScheduler : Session {
  OtherScheduler() {
    environment["DTSUBMIT_PLUGIN_PATH"] =
        program().substr(0, program().rfind('/')) + "/../tests/plugins";
    environment["DTSUBMIT_SCHEDULER"] = "fakesched";
    environment["FAKESCHED_STATE"] = file("tickets.json");
    environment["SLURM_CONF"] = "/nonexistent";  // must not be read
  }

  // The output of a command, which must not mention Slurm.
  [[nodiscard]] std::string say(const Words& words, int code = 0) const {
    const Output output = dtsubmit(words);
    const std::string said = output.out + output.err;
    CAPTURE(said);
    CHECK(output.exit_code == code);
    const std::string lower = in_lower_case(said);
    for (const char* word :
         {"slurm", "sbatch", "scontrol", "scancel", "sinfo", "sacct", "squeue", "srun"}) {
      CAPTURE(word);
      CHECK_FALSE(contains(lower, word));
    }
    return said;
  }
};

}  // namespace

TEST_CASE(
    "a job of another scheduler is submitted, explained, cancelled and put back by its own id") {
  const OtherScheduler session;
  CHECK(contains(session.say({"submit", "--nodes", "2", "--", "/bin/true"}),
                 "submitted job q7.alpha: 2 nodes"));
  CHECK(contains(session.say({"status", "q7.alpha"}),
                 "q7.alpha, pending (tide)\nwhy     the tide is out\n"));
  CHECK(contains(session.say({"status", "q7.alpha", "--json"}), R"("job": "q7.alpha")"));
  CHECK(contains(session.say({"list"}), "q7.alpha"));
  const std::string why = session.say({"why", "q7.alpha"});
  CHECK(contains(why, "Job q7.alpha waits: the tide is out (tide)."));
  CHECK(contains(why, "next: fakerush q7.alpha"));
  CHECK(contains(session.say({"cancel", "q7.alpha"}), "cancelled job q7.alpha"));
  CHECK(contains(session.say({"list"}), "\ncancelled q7.alpha   "));  // the columns of its heading
  CHECK(contains(session.say({"why", "last"}), "Job q7.alpha was cancelled"));
  CHECK(contains(session.say({"stop", "q7.alpha"}), "is over"));
  CHECK(contains(session.say({"requeue", "q7.alpha"}), "requeued job q7.alpha"));
}

TEST_CASE("a job that is to be requeued but waits already says why, and what helps") {
  const OtherScheduler session;
  (void)session.say({"submit", "--", "/bin/true"});
  CHECK(contains(session.say({"requeue", "q7.alpha"}),
                 "job q7.alpha is already waiting in the queue: the tide is out\n"
                 "next: fakerush q7.alpha\n"));
}

TEST_CASE("stop, cancel and requeue tell a program what became of each run") {
  const OtherScheduler session;
  const auto runs_of = [&](const Words& words, int code = 0) {
    const Output output = session.dtsubmit(words);
    CAPTURE(output.err);
    CHECK(output.exit_code == code);
    CHECK(output.err.empty() == (code == 0));
    const auto document = nlohmann::json::parse(output.out);
    CHECK(document.at("schema") == "dtsubmit/" + words.front() + "/1");
    return document.at("runs");
  };
  (void)session.say({"submit", "--", "/bin/true"});
  const std::string made = session.newest_run().path;
  nlohmann::json row{{"run_directory", made}, {"job", "q7.alpha"}, {"detail", ""}};
  const auto with = [&row](const char* result) {
    row["result"] = result;
    return nlohmann::json::array({row});
  };
  row["detail"] = "the tide is out";
  CHECK(runs_of({"requeue", "last", "--json"}) == with("waiting"));
  row["detail"] = "";
  CHECK(runs_of({"stop", "last", "--json"}) == with("cancelled"));
  CHECK(runs_of({"stop", made, "--json", "--wait"}) == with("over"));
  CHECK(runs_of({"requeue", "q7.alpha", "--json"}) == with("requeued"));
  CHECK(runs_of({"requeue", "last", "--json"}) == with("other_requeue"));
  const auto both = runs_of({"cancel", "--json", "q7.alpha", "nothing"}, 6);
  REQUIRE(both.size() == 2);
  row["name"] = "q7.alpha";
  CHECK(both[0] == with("cancelled")[0]);
  CHECK(both[1].at("name") == "nothing");
  CHECK(both[1].at("run_directory") == "");
  CHECK(both[1].at("job") == 0);
  CHECK(both[1].at("result") == "failed");
  CHECK(contains(both[1].at("detail"), "nothing"));
  CHECK(runs_of({"cancel", "--json", "q7.alpha"}) == with("over"));
  CHECK(session.dtsubmit({"stop", "--json", "nothing"}).out.empty());
}

TEST_CASE("what became of a sweep is told of each element, or of the whole array") {
  const OtherScheduler session;
  (void)session.say({"submit", "--sweep", "x=1,2", "--", "/bin/true"});
  const std::string made = session.newest_run().path;
  const auto told = [&](const char* verb) {
    const Output output = session.dtsubmit({verb, made, "--json"});
    CAPTURE(output.err);
    std::string text;
    const auto document = nlohmann::json::parse(output.out);
    for (const auto& run : document.at("runs"))
      text += run.at("run_directory").get<std::string>().substr(made.size()) + " " +
              run.at("result").get<std::string>() + "\n";
    return text;
  };
  CHECK(told("cancel") == " cancelled\n");
  CHECK(told("stop").empty());
  CHECK(told("requeue") == "/0 submitted\n/1 submitted\n");
  CHECK(told("stop") == "/0 cancelled\n/1 cancelled\n");
}

TEST_CASE("a run that was moved continues where it is, and its copy is not taken for it") {
  const OtherScheduler session;
  (void)session.say({"submit", "-J", "made", "--", "/bin/true"});
  const std::string made = session.newest_run().path;
  const std::string copy = session.file("runs/co py"), moved = session.file("runs/moved");
  REQUIRE(session.shell("cp -a " + made + " \"" + copy + "\"").exit_code == 0);
  for (const char* verb : {"stop", "cancel", "requeue"})
    CHECK(contains(session.say({verb, copy}, 3), "is a copy of " + made + ", whose job this is"));
  CHECK(contains(session.say({"cancel", made}), "cancelled job q7.alpha"));
  REQUIRE(session.shell("mv " + made + " " + moved).exit_code == 0);
  CHECK(contains(session.say({"requeue", moved}), "to continue the run: 1 node x 1 rank"));
  CHECK(contains(read_file(moved + "/script.sbatch").value(), " agent --run " + moved + "\n"));
  CHECK_FALSE(exists(made));
}

TEST_CASE("an element of a moved sweep continues where it is, and a copied sweep is refused") {
  const OtherScheduler session;
  (void)session.say({"submit", "--sweep", "x=1,2", "--", "/bin/true"});
  const std::string made = session.newest_run().path;
  const std::string copy = session.file("runs/copy"), moved = session.file("runs/moved");
  REQUIRE(session.shell("cp -a " + made + " " + copy).exit_code == 0);
  for (const char* verb : {"stop", "cancel", "requeue"}) {
    CHECK(contains(session.say({verb, copy}, 3), "is a copy of " + made + ", whose job this is"));
    CHECK(contains(session.say({verb, copy + "/0"}, 3), "is a copy of " + made));
  }
  (void)session.say({"cancel", made});
  REQUIRE(session.shell("mv " + made + " " + moved).exit_code == 0);
  CHECK(contains(session.say({"requeue", moved + "/0"}), "to continue the run: 1 node x 1 rank"));
}

TEST_CASE("a job that another scheduler has forgotten is looked for in its own terms") {
  const OtherScheduler session;
  (void)session.say({"submit", "--", "/bin/true"});
  REQUIRE(write_file(session.file("tickets.json"), "[]"));
  const std::string why = session.say({"why", "last"});
  CHECK(contains(why, "Fakesched no longer knows it (it forgets jobs at once)."));
  CHECK(contains(why, "next: fakeacct q7.alpha may know more"));
}

TEST_CASE("a job that was cancelled in the queue stays cancelled when it is forgotten") {
  const OtherScheduler session;
  for (const char* verb : {"cancel", "stop"}) {
    (void)session.say({"submit", "--", "/bin/true"});
    (void)session.say({verb, "q7.alpha"});
    REQUIRE(write_file(session.file("tickets.json"), "[]"));
    CHECK(contains(session.say({"list", "-n", "1"}), "\ncancelled "));
    CHECK(contains(session.say({"why", "last"}), "was cancelled while it waited in the queue"));
  }
  (void)session.say({"requeue", "last"});
  CHECK(contains(session.say({"list", "-n", "1"}), "\npending "));
  (void)session.say({"cancel", "last"});
  CHECK_FALSE(contains(session.say({"requeue", "last"}), "already continues the run"));
  (void)session.say({"submit", "--sweep", "x=1,2", "--", "/bin/true"});
  (void)session.say({"cancel", "last"});
  REQUIRE(write_file(session.file("tickets.json"), "[]"));
  CHECK(contains(session.say({"status", "last"}), "2 elements: 2 cancelled\n"));
}

TEST_CASE("a job that got a lost job's id is another run's: no command means it") {
  const OtherScheduler session;
  (void)session.say({"submit", "-J", "old", "--", "/bin/true"});
  const std::string old = session.newest_run().path;
  REQUIRE(write_file(session.file("tickets.json"), "[]"));  // the scheduler loses its state
  (void)session.say({"submit", "-J", "new", "--", "/bin/true"});
  const auto is_untouched = [&] {
    const std::string tickets = read_file(session.file("tickets.json")).value_or("");
    return contains(tickets, R"("state":"pending")") && !contains(tickets, "restart_count");
  };
  REQUIRE(is_untouched());
  CHECK(contains(session.say({"cancel", old}, 6), "q7.alpha is the id of another job now"));
  CHECK(contains(session.say({"stop", old}), "nothing is left to stop"));
  const std::string status = session.say({"status", old});
  CHECK_FALSE(contains(status, "pending"));
  CHECK(contains(status, "q7.alpha is the id of another job now"));
  CHECK(contains(session.say({"why", old}), "that id is another job's now"));
  CHECK(contains(session.say({"list"}), "lost"));
  CHECK(is_untouched());
  CHECK(contains(session.say({"status", "q7.alpha"}), "new-"));
  CHECK(contains(session.say({"requeue", old}), "submitted job q8.alpha to continue it"));
  CHECK(is_untouched());
  // Where the folder is now, or what it is called through a link, does not matter.
  CHECK(::symlink(old.c_str(), session.file("link").c_str()) == 0);
  CHECK(contains(session.say({"status", session.file("link")}), "q8.alpha, pending"));
  CHECK(contains(session.say({"cancel", session.file("link")}), "cancelled job q8.alpha"));
}

TEST_CASE("a job whose batch process was killed comes back although nobody answers for a while") {
  const OtherScheduler session;
  (void)session.say({"submit", "--", "/bin/true"});
  const run::RunDirectory run = session.newest_run();
  REQUIRE(run::append_event(
      run.ledger(),
      {.attempt = 1, .job = *JobId::parse("q7.alpha"), .what = run::AttemptStarted{}}));
  const Output output = session.shell(
      "sed -i 's/\"pending\"/\"failed\",\"exit_signal\":9/' tickets.json; touch tickets.json.away\n"
      "(sleep 5; rm tickets.json.away) & $DTSUBMIT revive --attempt 1 --run " +
      run.path);
  CAPTURE(output.err);
  CHECK(output.exit_code == 0);
  CHECK(contains(read_file(session.file("tickets.json")).value(), R"("restart_count":1)"));
  CHECK(session.story().back() == "requeued");
}

TEST_CASE("a job that was submitted to another cluster is not taken for over") {
  OtherScheduler session;
  session.environment["SLURM_CONF"] = session.file("first.conf");
  REQUIRE(write_file(session.file("first.conf"), ""));
  REQUIRE(session.dtsubmit({"submit", "--", "/bin/true"}).exit_code == 0);
  session.environment["SLURM_CONF"] = session.file("second.conf");
  REQUIRE(write_file(session.file("tickets.json"), "[]"));  // the second one knows no job
  for (const char* verb : {"stop", "cancel", "requeue", "why"}) {
    const Output output = session.dtsubmit({verb, "last"});
    CAPTURE(output.out);
    CAPTURE(output.err);
    CHECK(output.exit_code == (std::string(verb) == "why" ? 0 : 4));
    CHECK(contains(output.out + output.err, "it was submitted to another cluster"));
    CHECK_FALSE(contains(output.out, "is over"));
  }
  const Output status = session.dtsubmit({"status", "last", "--json"});
  CHECK(contains(status.err, "it was submitted to another cluster"));
  CHECK_FALSE(contains(status.out, R"("state": "lost")"));
  // Another name of the same configuration is no other cluster.
  REQUIRE(::symlink("first.conf", session.file("same.conf").c_str()) == 0);
  session.environment["SLURM_CONF"] = session.file("same.conf");
  CHECK(contains(session.dtsubmit({"stop", "last"}).out, "is over"));
  session.environment["SLURM_CONF"] = session.file("second.conf");
  // A cluster that is gone with its configuration has no jobs.
  REQUIRE(std::remove(session.file("first.conf").c_str()) == 0);
  CHECK(contains(session.dtsubmit({"requeue", "last"}).out, "submitted job q7.alpha"));
}

TEST_CASE("the elements of a sweep that was submitted to another cluster are not taken for over") {
  OtherScheduler session;
  session.environment["SLURM_CONF"] = session.file("first.conf");
  REQUIRE(write_file(session.file("first.conf"), ""));
  REQUIRE(session.dtsubmit({"submit", "--sweep", "x=1,2", "--", "/bin/true"}).exit_code == 0);
  session.environment["SLURM_CONF"] = session.file("second.conf");
  REQUIRE(write_file(session.file("tickets.json"), "[]"));
  for (const char* verb : {"stop", "cancel", "requeue"}) {
    const Output output = session.dtsubmit({verb, "last"});
    CHECK(output.exit_code == 4);
    CHECK(output.out.empty());
    CHECK(contains(output.err, "it was submitted to another cluster"));
  }
}

TEST_CASE("what another scheduler refuses is refused in its words") {
  const OtherScheduler session;
  CHECK(contains(session.say({"submit", "--nodes", "9", "--", "/bin/true"}, 3), "nodes"));
  CHECK(contains(session.say({"status", "q99.alpha"}, 6), "q99.alpha"));
}
