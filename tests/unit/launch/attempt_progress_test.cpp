// SPDX-License-Identifier: Apache-2.0
// A job that does not get on: who is named, and when it is ended.
#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>

#include <csignal>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using run::Cause;

// 2 nodes with 2 ranks each: ranks 0 and 1 on n0, 2 and 3 on n1.
class Hang : public JobStory {
 public:
  Hang() { running(); }

  Hang& reports(unsigned rank, std::uint64_t step, unsigned stalled, const char* state = "S") {
    says(peer_of(rank), Progress{step, stalled, state});
    return *this;
  }

  Hang& dumped(unsigned rank) {
    says(peer_of(rank), Dumped{});
    return *this;
  }

  Hang& all_dumped() {
    for (const unsigned rank : {0U, 1U, 2U, 3U}) dumped(rank);
    return *this;
  }
};

}  // namespace

TEST_CASE("reports of ranks that get on change nothing") {
  Hang job;
  for (std::uint64_t step = 1; step <= 10; ++step)
    for (const unsigned rank : {0U, 1U, 2U, 3U}) job.reports(rank, step, 0).wait(10s);
  CHECK(job.count<Stacks>() == 0);
  CHECK(job.count<Kill>() == 0);
}

TEST_CASE("the first rank that stalls makes all write their stacks, each into its own file, once") {
  Hang job;
  job.reports(1, 40, 300).reports(2, 40, 301);
  CHECK(job.count<Stacks>() == 4);
  for (const unsigned rank : {0U, 1U, 2U, 3U}) {
    const auto told = job.told<Stacks>(rank);
    REQUIRE(told.size() == 1);
    CHECK(told[0].file == "/runs/a/attempt-1/stacks-rank-" + std::to_string(rank) + ".txt");
  }
  CHECK(job.count<Kill>() == 0);
}

TEST_CASE("once the stacks are there the job ends, and the rank that is behind is named") {
  Hang job;
  job.reports(0, 40, 300).reports(1, 40, 300).reports(2, 39, 300).reports(3, 40, 300);
  job.dumped(0).dumped(1).dumped(2);
  CHECK(job.count<Kill>() == 0);
  job.dumped(3);
  CHECK(job.count<Kill>() == 4);
  job.killed_ranks_exit();
  check_ended(
      job, Cause::hang, "no progress for 300 s at step 40; rank 2 on n1 is behind, at step 39");
  CHECK(job.outcome().rank == 2U);
  CHECK(job.outcome().node == "n1");
  CHECK(job.outcome().exit_code == 128 + SIGKILL);
}

TEST_CASE("a rank that a signal stopped is named before one that is behind") {
  Hang job;
  job.reports(0, 39, 300).reports(3, 40, 0, "T").all_dumped().killed_ranks_exit();
  check_ended(job, Cause::hang, "rank 3 on n1 is stopped by a signal");
}

TEST_CASE("where all are at the same step it says so") {
  Hang job;
  for (const unsigned rank : {0U, 1U, 2U, 3U}) job.reports(rank, 7, 60);
  job.all_dumped().killed_ranks_exit();
  check_ended(job, Cause::hang, "rank 0 on n0 said so first, no rank is behind it");
}

TEST_CASE("stacks that never come are not waited for longer than gdb may take") {
  Hang job;
  job.reports(0, 40, 300).wait(29s);
  CHECK(job.count<Kill>() == 0);
  job.wait(2s);
  CHECK(job.count<Kill>() == 4);
}

TEST_CASE("a stall while the job saves is no hang") {
  Hang job;
  job.stop(Cause::preempted, 600s);
  job.reports(0, 40, 300).wait(60s);
  CHECK(job.count<Stacks>() == 0);
  CHECK(job.count<Kill>() == 0);
}

TEST_CASE("a rank that fails while the stacks are written is the cause") {
  Hang job;
  job.reports(0, 40, 300).exits(2, 134).settle().killed_ranks_exit();
  check_ended(job, Cause::rank_killed, "rank 2 on n1 was killed by SIGABRT");
}

TEST_CASE("a rank process that is silent for two minutes is a hang of its node") {
  Hang job;
  for (int minute = 0; minute < 4; ++minute) {
    for (const unsigned rank : {0U, 1U, 3U}) job.reports(rank, 1, 0);
    if (minute < 2) job.reports(2, 1, 0);
    job.wait(55s);
  }
  CHECK(job.count<Kill>() == 4);
  job.killed_ranks_exit();
  check_ended(job, Cause::hang, "rank 2 on n1 has not been heard of for 1");
}

TEST_CASE("a silence that was ours too is none: the whole job was suspended") {
  Hang job;
  job.wait(5s);
  job.attempt().on_tick(Time::max() - 1h);  // long after
  CHECK(job.count<Kill>() == 0);
}
