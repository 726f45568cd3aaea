// SPDX-License-Identifier: Apache-2.0
// A node's set-up: requested from the first rank of each node, awaited, and kept for its ranks.
#include "core/launch/rank/rank_set_up.hpp"
#include "tests/support/contains.hpp"
#include "tests/unit/launch/job_story.hpp"

namespace dts::launch {
namespace {

using run::Cause;
using tests::contains;
using Entries = std::vector<std::string>;

}  // namespace

TEST_CASE("no program starts before every node's set-up is done, and its ranks get the changes") {
  JobStory job;
  job.set_up("true").all_hello().listening(20001).all_reached();
  CHECK(job.count<SetUp>() == 2);
  REQUIRE(job.told<SetUp>(2).size() == 1);
  CHECK(job.told<SetUp>(2)[0].script == "true");
  CHECK(job.told<SetUp>(2)[0].log == "/runs/a/attempt-1/set-up-n1.log");
  job.says(JobStory::peer_of(2), SetUpEnded{"", {{"A=1"}, {"B"}}});
  CHECK(job.count<Go>() == 0);
  job.says(JobStory::peer_of(0), SetUpEnded{"", {{"A=0"}, {}}});
  REQUIRE(job.count<Go>() == 4);
  CHECK(job.told<Go>(1)[0].set_up == EnvironmentChanges{{"A=0"}, {}});
  CHECK(job.told<Go>(3)[0].set_up == EnvironmentChanges{{"A=1"}, {"B"}});
}

TEST_CASE("a set-up that fails on one node ends the attempt and names it") {
  JobStory job;
  job.set_up("false").all_hello().listening(20001).all_reached();
  job.says(JobStory::peer_of(0), SetUpEnded{});
  job.says(JobStory::peer_of(2), SetUpEnded{"--setup false: `false` exited 1", {}});
  CHECK(job.count<Go>() == 0);
  CHECK(job.count<Kill>() == 4);
  job.all_exit(137);
  CHECK(job.outcome().cause == Cause::set_up_failed);
  CHECK(job.outcome().node == "n1");
  CHECK(job.outcome().detail == "set-up on n1: --setup false: `false` exited 1");
}

TEST_CASE("a set-up may take an hour, staging as long as it makes progress") {
  JobStory job;
  job.stage("/data").all_hello().listening(20001).all_reached();
  CHECK(job.told<SetUp>(2)[0].stages);
  job.says(JobStory::peer_of(0), SetUpEnded{});
  for (std::uint64_t done = 1; done <= 3; ++done) {
    job.wait(std::chrono::minutes(50));
    job.says(JobStory::peer_of(2), Staging{done << 20, 4 << 20});
  }
  CHECK(job.count<Kill>() == 0);
  const auto notes = job.attempt().take_notes();
  REQUIRE_FALSE(notes.empty());
  CHECK(contains(notes.back(), "n1 is the slowest: 75 % (3.0 of 4.0 MiB)"));
  const auto events = job.attempt().take_events();  // though no program runs yet
  REQUIRE(events.size() == 3);
  REQUIRE(events.back().is<run::Staging>());
  CHECK(events.back().as<run::Staging>()->node == "n1");
  CHECK(events.back().as<run::Staging>()->detail == notes.back());
  job.wait(std::chrono::minutes(61));
  CHECK(job.count<Kill>() == 4);
}

TEST_CASE("staged files stay for a restart, and are removed when a job leaves its nodes") {
  for (const int code : {0, 1}) {
    JobStory job;
    job.stage("/data").all_hello().listening(20001).all_reached();
    for (const unsigned rank : {0U, 2U}) job.says(JobStory::peer_of(rank), SetUpEnded{});
    job.all_started().all_exit(code);
    REQUIRE(job.count<Bye>() == 4);
    CHECK(job.told<Bye>(2)[0].leaves_node == (code == 0));
  }
}

TEST_CASE("without a set-up no rank is asked") {
  JobStory job;
  job.all_hello().listening(20001).all_reached();
  CHECK(job.count<SetUp>() == 0);
  CHECK(job.count<Go>() == 4);
}

TEST_CASE("the changes are those a program would see, without the shell's own") {
  const EnvironmentChanges changes =
      changes_of_environment({"A=1", "B=2", "C=3", "SHLVL=1", "_=x"},
                             {"A=1", "B=4=5", "D=", "SHLVL=2", "PWD=/x", "_=y", "dts_value=z", ""});
  CHECK(changes == EnvironmentChanges{{"B=4=5", "D="}, {"C"}});
}

}  // namespace dts::launch
