// SPDX-License-Identifier: Apache-2.0
// Nodes from which no rank arrives: when they are probed, and what follows from the result.
#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using run::Cause;
using Nodes = std::vector<std::string>;

NodeReach reach_of(const std::string& node, Reach reach, const std::string& detail = "") {
  return {node, reach, detail};
}

}  // namespace

TEST_CASE("a node that is silent for 2 s is probed, then at growing intervals") {
  JobStory job(3, 2);
  job.hello(0).hello(1);
  std::vector<int> looks;
  for (int second = 1; second <= 60; ++second) {
    job.wait(1s);
    if (const Nodes silent = job.attempt().take_silent_nodes(); !silent.empty()) {
      CHECK(silent == Nodes{"n1", "n2"});
      looks.push_back(second);
    }
  }
  CHECK(looks == std::vector<int>{2, 4, 8, 16, 32});
}

TEST_CASE("no probe while ranks still arrive, nor of the agent's node, nor of one that arrived") {
  JobStory job(3, 2);
  for (const unsigned rank : {2U, 3U, 4U}) {
    job.wait(1s).hello(rank);
    CHECK(job.attempt().take_silent_nodes().empty());
  }
  job.wait(2s);
  CHECK(job.attempt().take_silent_nodes().empty());  // n0 is the agent's
}

TEST_CASE("if no rank at all has arrived, every other node is probed: mpirun waits for all") {
  JobStory job(3, 1);
  job.wait(2s);
  CHECK(job.attempt().take_silent_nodes() == Nodes{"n1", "n2"});
}

TEST_CASE("an unreachable node ends the attempt at once, by name") {
  JobStory job(3, 2);
  job.hello(0).hello(1).hello(2).hello(3).wait(2s);
  job.sees({reach_of("n2", Reach::unreachable, "10.0.0.2 port 6818: No route to host")});
  CHECK(job.count<Kill>() == 4);
  job.killed_ranks_exit();
  check_ended(job,
              Cause::launch_failed,
              "node n2 cannot be reached (10.0.0.2 port 6818: No route to host), and none of its 2 "
              "ranks said hello");
  CHECK(job.outcome().exit_code == 1);
  CHECK(job.outcome().node == "n2");  // the next attempt omits it
}

TEST_CASE("a late probe result is no verdict on a node that has reported since") {
  JobStory job(2, 1);
  job.hello(0).wait(2s).hello(1);
  job.sees({reach_of("n1", Reach::unreachable, "no answer")});
  CHECK_FALSE(job.over());
  JobStory half(2, 2);
  half.hello(0).hello(1).wait(2s).hello(2).sees({reach_of("n1", Reach::unreachable, "no answer")});
  CHECK_FALSE(half.over());
}

TEST_CASE("a node that is up is waited for; the log reports each finding once") {
  const struct {
    Reach reach;
    const char* words;
  } table[] = {{Reach::answers, "from n1 for 8 s: up, and its slurmd answers"},
               {Reach::mute, "from n1 for 8 s: up, but its slurmd does not answer"},
               {Reach::refused, "from n1 for 8 s: up, but no slurmd runs there"},
               {Reach::unknown, "from n1 for 8 s: nothing is known about it"}};

  for (const auto& row : table) {
    CAPTURE(row.words);
    JobStory job;
    job.hello(0).hello(1).wait(4s).sees({reach_of("n1", row.reach)});
    CHECK(job.attempt().take_notes().empty());  // many sound jobs take that long
    job.wait(4s).sees({reach_of("n1", row.reach)});
    const auto warnings = job.attempt().take_notes();
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find(row.words) != std::string::npos);
    CHECK(warnings[0].find("up to 120 s") != std::string::npos);
    job.wait(8s).sees({reach_of("n1", row.reach)});
    CHECK(job.attempt().take_notes().empty());
    CHECK_FALSE(job.over());
    job.hello(2).hello(3);
    CHECK(job.count<Listen>() == 1);
  }
}

TEST_CASE("the last finding is in the reason when the time is up") {
  JobStory job;
  job.hello(0).hello(1).wait(10s).sees({reach_of("n1", Reach::answers)});
  job.wait(10s).sees({reach_of("n1", Reach::mute)}).wait(100s).killed_ranks_exit();
  check_ended(
      job,
      Cause::launch_failed,
      "ranks 2,3 did not say hello within 120 s; of n1: up, but its slurmd does not answer");
}

TEST_CASE("of many silent nodes some are named and the rest counted") {
  JobStory job(20, 1);
  job.hello(0).wait(10s);
  std::vector<NodeReach> probed;
  for (const std::string& node : job.attempt().take_silent_nodes())
    probed.push_back(reach_of(node, Reach::answers));
  REQUIRE(probed.size() == 19);
  job.sees(probed);
  const auto warnings = job.attempt().take_notes();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("n1, n2, n3, n4, n5, n6, n7, n8 and 11 more for 10 s") !=
        std::string::npos);
}

TEST_CASE("with a node down, a launcher that gives up or a vanished rank is not the reason") {
  JobStory job;
  job.hello(0).hello(1).lost(1).launcher_exits(1);
  CHECK_FALSE(job.over());
  CHECK(job.attempt().take_silent_nodes() == Nodes{"n1"});  // without any delay
  job.sees({reach_of("n1", Reach::unreachable, "no answer")}).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "node n1 cannot be reached (no answer)");
}

TEST_CASE("the first failure is the reason if the silent nodes are up, or nothing is learnt") {
  for (const bool seen : {true, false}) {
    CAPTURE(seen);
    JobStory lost;
    lost.hello(0).hello(1).lost(1);
    JobStory left;
    left.hello(0).hello(1).launcher_exits(213);
    for (JobStory* job : {&lost, &left}) {
      if (seen)
        job->sees({reach_of("n1", Reach::answers)});
      else
        job->wait(4s);
      job->killed_ranks_exit();
    }
    check_ended(lost, Cause::rank_killed, "rank 1 on n0: its process vanished");
    check_ended(left, Cause::launch_failed, "ended with code 213 before ranks 2,3 said hello");
  }
}

TEST_CASE("a rank that vanished is not forgotten because the silent node arrived after all") {
  JobStory job;
  job.hello(0).hello(1).lost(1).hello(2).hello(3).killed_ranks_exit();
  check_ended(job, Cause::rank_killed, "rank 1 on n0: its process vanished");
  CHECK(job.count<Listen>() == 0);
}

TEST_CASE("a rank whose topology is still in transit has not arrived yet") {
  JobStory job;
  job.hello(0).hello(1).hello(3).says(JobStory::peer_of(2), job.hello_of(2));
  CHECK(job.count<Listen>() == 0);
  job.says(JobStory::peer_of(2), Topology{""});
  CHECK(job.count<Listen>() == 0);
  job.says(JobStory::peer_of(2), job.hello_of(2));  // sent twice: that connection is refused
  CHECK(job.refused(JobStory::peer_of(2)));
  job.wait(120s).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "ranks 2 did not say hello");
}

TEST_CASE("nodes that stay silent while others have arrived are asked once what they lack") {
  JobStory job;
  job.hello(0).hello(1).wait(4s);
  CHECK(job.attempt().take_mute_nodes().empty());
  job.wait(4s);
  CHECK(job.attempt().take_mute_nodes() == std::vector<std::string>{"n1"});
  job.wait(60s);
  CHECK(job.attempt().take_mute_nodes().empty());
  CHECK_FALSE(job.over());
  job.attempt().on_unable({{"n1", "cannot read /runs/a"}}, job.now());
  job.wait(1s).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "n1 cannot read /runs/a");
  CHECK(job.outcome().node == "n1");
}

TEST_CASE("before any rank arrives no node is asked, and a late answer is no news") {
  JobStory job;
  job.wait(60s);
  CHECK(job.attempt().take_mute_nodes().empty());
  job.all_hello();
  job.attempt().on_unable({{"n1", "cannot read /runs/a"}}, job.now());
  job.wait(1s);
  CHECK_FALSE(job.over());
}
