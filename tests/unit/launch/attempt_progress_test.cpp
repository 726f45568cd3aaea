// SPDX-License-Identifier: Apache-2.0
// A job without progress: which rank is named, and when the job is ended.
#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <optional>
#include <vector>

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

  Hang& dumped(unsigned rank, bool written = true) {
    says(peer_of(rank), Dumped{written});
    return *this;
  }

  Hang& all_dumped() {
    for (const unsigned rank : {0U, 1U, 2U, 3U}) dumped(rank);
    return *this;
  }
};

}  // namespace

TEST_CASE("reports of ranks that make progress change nothing") {
  Hang job;
  for (std::uint64_t step = 1; step <= 10; ++step)
    for (const unsigned rank : {0U, 1U, 2U, 3U}) job.reports(rank, step, 0).wait(10s);
  CHECK(job.count<Stacks>() == 0);
  CHECK(job.count<Kill>() == 0);
}

TEST_CASE("the first rank that stalls makes all dump their stacks, each into its own file, once") {
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

TEST_CASE("once the stacks are dumped the job ends, and the rank that is behind is named") {
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

TEST_CASE("the files of a hang are named if there is any") {
  const auto words_if = [](bool written) {
    Hang job;
    job.reports(0, 40, 300).dumped(0, written).dumped(1, false).dumped(2, false).dumped(3, false);
    return job.killed_ranks_exit().outcome().detail;
  };
  CHECK(words_if(true).ends_with("; stacks are in /runs/a/attempt-1/stacks-rank-*.txt"));
  CHECK(words_if(false).ends_with("; no stacks were written to /runs/a/attempt-1"));
}

TEST_CASE("a rank stopped by a signal is named before one that is behind") {
  Hang job;
  job.reports(0, 39, 300).reports(3, 40, 0, "T").all_dumped().killed_ranks_exit();
  check_ended(job, Cause::hang, "rank 3 on n1 is stopped by a signal");
}

TEST_CASE("if all are at the same step, the message says so") {
  Hang job;
  for (const unsigned rank : {0U, 1U, 2U, 3U}) job.reports(rank, 7, 60);
  job.all_dumped().killed_ranks_exit();
  check_ended(job, Cause::hang, "rank 0 on n0 reported it first, and no rank is behind it");
}

TEST_CASE("missing stacks are not waited for longer than gdb may take") {
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

TEST_CASE("a rank that fails while stacks are dumped is the cause") {
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

TEST_CASE("a silence that includes the agent's own is no hang: the whole job was suspended") {
  Hang job;
  job.wait(5s);
  job.attempt().on_tick(Time::max() - 1h);  // long after
  CHECK(job.count<Kill>() == 0);
}

namespace {

// A program that reports no steps: what its rank observes.
Progress seen(unsigned stalled, unsigned idle, bool asleep = false) {
  Progress progress;
  progress.stalled_seconds = stalled;
  progress.state = "S";
  progress.idle_seconds = idle;
  progress.asleep = asleep;
  return progress;
}

}  // namespace

TEST_CASE("a program without beats hangs only if no rank makes progress: one may write for all") {
  Hang job;
  job.says(job.peer_of(1), seen(60, 0)).says(job.peer_of(2), seen(60, 0));
  job.says(job.peer_of(3), seen(60, 0));
  CHECK(job.count<Stacks>() == 0);  // rank 0 writes
  job.says(job.peer_of(1), seen(0, 0)).says(job.peer_of(0), seen(60, 0));
  CHECK(job.count<Stacks>() == 0);  // rank 1 has written again
  job.says(job.peer_of(1), seen(60, 0));
  CHECK(job.count<Stacks>() == 4);
}

TEST_CASE("the rank that sleeps, or that alone works, is blamed, not the first to report") {
  struct Row {
    const char* what;
    unsigned idle_of_1;
    bool asleep;
    unsigned idle_of_others;
    std::optional<unsigned> blamed;
    const char* words;
  };

  for (const Row& row :
       {Row{"others spin", 40, true, 0, 1U, "rank 1 on n0 sleeps"},
        Row{"others wait in the kernel", 40, true, 40, 1U, "rank 1 on n0 sleeps"},
        Row{"in a lock, others spin", 40, false, 0, 1U, "no processor time for 40 s"},
        Row{"idle since longer", 43, false, 40, 1U, "longer than any other"},
        Row{"in an endless loop", 0, false, 40, 1U, "rank 1 on n0 uses the processor"},
        Row{"nobody differs", 40, false, 40, 2U, "reported it first"}}) {
    CAPTURE(row.what);
    Hang job;
    for (const unsigned rank : {0U, 1U, 3U, 2U})
      job.says(job.peer_of(rank),
               rank == 1 ? seen(40, row.idle_of_1, row.asleep) : seen(40, row.idle_of_others));
    job.all_dumped().killed_ranks_exit();
    check_ended(job, Cause::hang, row.words);
    CHECK(job.outcome().rank == row.blamed);
    CHECK(job.outcome().stalled == 40s);
  }
}

namespace {

// More than an hour in which every rank reports every 30 s. `busy`: rank 0 computes; `speaks`: rank
// 0 writes; `sleeps`: rank 2 sleeps.
struct Hour {
  bool busy = true;
  bool speaks = false;
  bool sleeps = false;
};

std::vector<run::Event> after_an_hour(Hang& job, Hour how) {
  std::vector<run::Event> events;
  for (unsigned second = 30; second <= 3700; second += 30) {
    for (const unsigned rank : {0U, 1U, 2U, 3U}) {
      Progress progress = seen(0, rank == 0 && how.busy ? 0 : second);
      progress.quiet_seconds = rank == 0 && how.speaks ? 0 : second;
      progress.asleep = rank == 2 && how.sleeps;
      job.says(job.peer_of(rank), progress);
    }
    job.wait(30s);
    for (run::Event& event : job.attempt().take_events()) events.push_back(std::move(event));
  }
  return events;
}

}  // namespace

TEST_CASE("a silent program without progress is reported once, after an hour") {
  Hang job;
  const auto events = after_an_hour(job, {});
  REQUIRE(events.size() == 1);
  const auto* quiet = events[0].as<run::Quiet>();
  REQUIRE(quiet != nullptr);
  CHECK(quiet->rank == 1);
  CHECK(quiet->node == "n0");
  CHECK(quiet->detail.find("for 1 h, and rank 1 on n0 has used no processor time") !=
        std::string::npos);
  CHECK(quiet->detail.find("--hang-timeout") != std::string::npos);
  CHECK(job.count<Kill>() == 0);  // no hang timeout was requested
  job.says(job.peer_of(1), seen(0, 0)).wait(11s);
  const auto heard = job.attempt().take_events();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].is<run::Heard>());
}

TEST_CASE("in a silent program, the rank that sleeps while the others wait is named") {
  Hang job;
  const auto events = after_an_hour(job, {.busy = false, .sleeps = true});
  REQUIRE(events.size() == 1);
  const auto* quiet = events[0].as<run::Quiet>();
  REQUIRE(quiet != nullptr);
  CHECK(quiet->rank == 2);
  CHECK(quiet->detail.find("and rank 2 on n1 sleeps, the others wait: it may hang") !=
        std::string::npos);
}

TEST_CASE("output, a checkpoint, or work of all ranks is a sign of life") {
  Hang speaks;
  CHECK(after_an_hour(speaks, {.speaks = true}).empty());
  Hang works;
  for (unsigned second = 30; second <= 3700; second += 30) {
    for (const unsigned rank : {0U, 1U, 2U, 3U}) {
      Progress progress = seen(0, 0);
      progress.quiet_seconds = second;
      works.says(works.peer_of(rank), progress);
    }
    works.wait(30s);
  }
  CHECK(works.attempt().take_events().empty());
  Hang saves;
  for (int i = 0; i < 60; ++i) {
    for (const unsigned rank : {0U, 1U, 2U, 3U}) saves.says(saves.peer_of(rank), seen(0, 0));
    saves.wait(30s);
  }
  saves.attempt().on_checkpoint(saves.now());
  for (const unsigned rank : {0U, 1U, 2U, 3U}) {
    Progress progress = seen(0, 3700);
    progress.quiet_seconds = 3700;
    saves.says(saves.peer_of(rank), progress);
  }
  saves.wait(60s);
  CHECK(saves.attempt().take_events().empty());
}
