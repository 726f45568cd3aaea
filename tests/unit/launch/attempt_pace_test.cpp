// SPDX-License-Identifier: Apache-2.0
// What a job learns from the pace of its ranks: how often to save, when to stop, who is slow.
#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using run::Cause;
using run::Event;

// 2 nodes with 2 ranks each: ranks 0 and 1 on n0, 2 and 3 on n1.
class Paced : public JobStory {
 public:
  explicit Paced(const run::FailureRecord& record = {}) : JobStory(2, 2, 0, {}, record) {
    running();
  }

  Paced& saved(unsigned rank, std::uint64_t milliseconds) {
    paces_[rank].save = milliseconds;
    ++paces_[rank].saves;
    return tell(rank);
  }

  Paced& works(unsigned rank, std::uint64_t milliseconds) {
    paces_[rank].work = milliseconds;
    return tell(rank);
  }

  Paced& pauses(unsigned rank, std::uint64_t milliseconds) {
    paces_[rank].pause = milliseconds;
    return tell(rank);
  }

  Paced& all_work(std::uint64_t milliseconds) {
    for (unsigned rank = 0; rank < world(); ++rank) works(rank, milliseconds);
    return *this;
  }

  // Every rank reports each minute while it runs.
  Paced& pass(std::chrono::seconds time) {
    for (; time > 60s; time -= 60s) {
      wait(60s);
      for (unsigned rank = 0; rank < world(); ++rank) tell(rank);
    }
    wait(time);
    return *this;
  }

  Paced& time_left(std::chrono::seconds left) {
    attempt().on_time_left(left, now());
    pass(0s);
    return *this;
  }

  template <class Type>
  std::vector<Type> events() {
    for (Event& event : attempt().take_events()) events_.push_back(std::move(event));
    std::vector<Type> found;
    for (const Event& event : events_)
      if (const auto* one = event.as<Type>()) found.push_back(*one);
    return found;
  }

 private:
  Paced& tell(unsigned rank) {
    says(peer_of(rank), Progress{1, 0, "S", paces_[rank]});
    return *this;
  }

  std::map<unsigned, Pace> paces_;
  std::vector<Event> events_;
};

}  // namespace

TEST_CASE("the slowest save of all ranks determines how often all are advised to save") {
  Paced job;
  CHECK(job.told<Go>(0).at(0).checkpoint_every == 0);
  job.pass(10s);
  CHECK(job.count<Advise>() == 0);
  job.saved(1, 300).saved(2, 20'000).saved(3, 0).pass(10s);
  for (const unsigned rank : {0U, 1U, 2U, 3U}) {
    const auto told = job.told<Advise>(rank);
    REQUIRE(told.size() == 1);
    CHECK(told[0].milliseconds == doctest::Approx(1'829'000).epsilon(0.01));
  }
  const auto noted = job.events<run::Advised>();
  REQUIRE(noted.size() == 1);
  CHECK(noted[0].save == Seconds(20));
  CHECK(noted[0].every->count() == doctest::Approx(1829).epsilon(0.01));
  job.pass(60s);
  CHECK(job.count<Advise>() == 4);  // not again for another minute
}

TEST_CASE("programs start with the advice derived from earlier attempts") {
  Paced job({2, Seconds(6 * 3600), Seconds(20)});
  for (const unsigned rank : {0U, 3U})
    CHECK(job.told<Go>(rank).at(0).checkpoint_every == doctest::Approx(1'180'000).epsilon(0.01));
  CHECK(job.events<run::Advised>().size() == 1);
  job.pass(10s);
  CHECK(job.count<Advise>() == 0);
  job.saved(0, 2000).pass(10s);
  CHECK(job.count<Advise>() == 4);  // saves are faster now
}

TEST_CASE("ranks are asked to save while there is still time") {
  struct Row {
    std::uint64_t save, pause;  // milliseconds
    std::chrono::seconds ran, left;
    bool stops;
  };

  for (const Row& row : {Row{0, 60'000, 600s, 1s, false},  // save time not known
                         Row{20'000, 0, 600s, 51s, false},
                         Row{20'000, 0, 600s, 50s, true},
                         Row{20'000, 30'000, 600s, 81s, false},
                         Row{20'000, 30'000, 600s, 80s, true},
                         Row{600'000, 0, 30s, 31s, false},  // it runs for at least half of its time
                         Row{600'000, 0, 30s, 30s, true}}) {
    CAPTURE(row.save);
    CAPTURE(row.left.count());
    Paced job;
    if (row.save > 0) job.saved(1, row.save);
    job.pauses(2, row.pause).pass(row.ran).time_left(row.left);
    CHECK(job.count<Stop>() == (row.stops ? 4 : 0));
    CHECK(job.attempt().stopping() == row.stops);
  }
}

TEST_CASE("the stop before the time limit happens once, says why, and awaits the scheduler's end") {
  Paced job;
  job.saved(0, 20'000).pass(600s).time_left(50s).time_left(40s).pass(100s);
  CHECK(job.count<Stop>() == 4);
  CHECK(job.count<Kill>() == 0);
  job.all_exit(85);
  check_ended(job, Cause::time_limit, "the time limit is near: 50 s left, and a save takes 20 s");
  CHECK_FALSE(job.outcome().unsaved);
}

TEST_CASE("a time limit that moves away is no reason to stop") {
  Paced job;
  job.saved(0, 20'000).pass(600s).time_left(60s).time_left(3600s).time_left(60s);
  CHECK(job.count<Stop>() == 0);
}

TEST_CASE("the save time of earlier attempts counts until this one has its own") {
  Paced job({0, Seconds(0), Seconds(20)});
  job.pass(600s).time_left(51s);
  CHECK(job.count<Stop>() == 0);
  job.time_left(50s);
  CHECK(job.count<Stop>() == 4);
}

TEST_CASE("a slow rank is named once, with node, phase and factor") {
  Paced job;
  job.all_work(200).works(3, 600).pass(10s).works(3, 700).pass(60s);
  const auto noted = job.events<run::Straggler>();
  REQUIRE(noted.size() == 1);
  CHECK(noted[0].rank == 3);
  CHECK(noted[0].node == "n1");
  CHECK(noted[0].phase == run::SlowPhase::compute);
  CHECK(noted[0].detail ==
        "rank 3 on n1 is slow: its own work takes 600 ms, 3.0 times the 200 ms of the others");
  CHECK(noted[0].own->count() == doctest::Approx(0.6));
  CHECK(noted[0].others->count() == doctest::Approx(0.2));
  CHECK(job.count<Stop>() == 0);
  // It recovers and becomes slow again: the log reports it, the ledger already knows.
  job.works(3, 200).pass(10s).works(3, 600).pass(10s);
  CHECK(job.events<run::Straggler>().size() == 1);
  auto notes = job.attempt().take_notes();
  std::erase_if(notes, [](const std::string& note) { return note.starts_with("binding: "); });
  CHECK(notes.size() == 2);
}

TEST_CASE("a job that is slow as a whole names no rank, nor does one that is stopping") {
  Paced slow;
  slow.all_work(60'000).pass(60s);
  CHECK(slow.events<run::Straggler>().empty());
  Paced stopping;
  stopping.all_work(200).stop(Cause::preempted, 600s);
  stopping.works(3, 600).pass(60s);
  CHECK(stopping.events<run::Straggler>().empty());
}

TEST_CASE("ranks that have ended are not compared") {
  Paced job;
  job.works(0, 600).works(1, 200).works(2, 200).works(3, 200);
  for (const unsigned rank : {1U, 2U, 3U}) job.exits(rank, 0);
  job.pass(10s);
  CHECK(job.events<run::Straggler>().empty());
}

TEST_CASE("a stop that not every rank followed cost unsaved work") {
  Paced job;
  job.stop(Cause::preempted, 10s);
  for (const unsigned rank : {0U, 1U, 2U}) job.exits(rank, 85);
  job.pass(15s).killed_ranks_exit();
  check_ended(job, Cause::preempted, "not every rank saved");
  CHECK(job.outcome().unsaved);
}
