// SPDX-License-Identifier: Apache-2.0
// What is known of an order whose answer got lost.
#include "core/sched/order.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace std::chrono_literals;

namespace {

// A controller that hears an order, carries it out or not, and whose answer may get lost.
class Deaf final : public sched::Scheduler, public sched::JobSearch {
 public:
  int lost = 1;       // so many answers to orders
  bool hears = true;  // an order whose answer is lost is carried out
  int silent = 0;     // so many questions find nobody
  int late = 0;       // what was ordered is seen only after so many answered questions
  int orders = 0;     // that came
  int done = 0;       // that were carried out
  bool ends = false;  // a signal ends the job, and another one is refused
  sched::JobState state = sched::JobState::running;

  Result<sched::JobId> submit(const sched::Submission&) override {
    return order().map([] { return sched::JobId(9); });
  }

  Result<sched::JobInfo> job(sched::JobId id) override {
    DTS_TRY(question());
    sched::JobInfo info;
    info.id = id;
    info.state = is_seen() && !ends ? sched::JobState::pending : state;
    info.restart_count = is_seen() ? 1 : 0;
    return info;
  }

  Result<std::vector<sched::JobInfo>> find(const std::string& script_path) override {
    CHECK(script_path == "/runs/a/script.sbatch");
    DTS_TRY(question());
    std::vector<sched::JobInfo> jobs(is_seen() ? 2 : 1);
    jobs.front().id = sched::JobId(3);  // of an earlier submission
    if (is_seen()) jobs.back().id = sched::JobId(9);
    return jobs;
  }

  Result<void> cancel(sched::JobId) override { return order(); }

  Result<void> requeue(sched::JobId) override { return order(); }

  Result<std::vector<sched::NodeInfo>> nodes() override { return {}; }

  Result<std::vector<sched::PartitionInfo>> partitions() override { return {}; }

  Result<sched::ConfigInfo> config() override { return sched::ConfigInfo{}; }

  Result<void> forbid_requeue(sched::JobId) override { return {}; }

  Result<void> exclude(sched::JobId, const std::string&) override { return {}; }

  Result<void> signal_batch(sched::JobId, int) override {
    if (done > 0 && ends) {
      state = sched::JobState::failed;
      return fail(Errc::rejected, "the job is over");
    }
    return order();
  }

 private:
  Result<void> order() {
    ++orders;
    if (lost > 0) {
      --lost;
      if (hears) ++done;
      return fail(Errc::unreachable, "timed out");
    }
    ++done;
    return {};
  }

  Result<void> question() {
    if (done > 0 && silent > 0) {
      --silent;
      return fail(Errc::unreachable, "timed out");
    }
    return {};
  }

  bool is_seen() { return done > 0 && late-- <= 0; }
};

sched::Patience brief() {
  sched::Patience patience;
  patience.limit = 400ms;
  patience.settle = 40ms;
  patience.query_interval = 2ms;
  return patience;
}

sched::Submission submission() {
  sched::Submission one;
  one.script_path = "/runs/a/script.sbatch";
  return one;
}

}  // namespace

TEST_CASE(
    "a job whose submission was taken, but not answered, is found once the controller speaks") {
  Deaf scheduler;
  scheduler.silent = 3;
  scheduler.late = 2;
  int words = 0;
  sched::Patience patience = brief();
  patience.begins = [&] { ++words; };
  const auto job = sched::submit_once(scheduler, submission(), {sched::JobId(3)}, patience);
  REQUIRE(job);
  CHECK(*job == sched::JobId(9));
  CHECK(scheduler.orders == 1);
  CHECK(words == 1);
}

TEST_CASE("a submission that never reached the controller is a failure, not an unknown outcome") {
  Deaf scheduler;
  scheduler.hears = false;
  const auto job = sched::submit_once(scheduler, submission(), {sched::JobId(3)}, brief());
  REQUIRE_FALSE(job);
  CHECK(job.error().code == Errc::unreachable);
  CHECK(scheduler.orders == 1);
}

TEST_CASE(
    "without a word from the controller the outcome stays unknown, and nothing is sent twice") {
  Deaf scheduler;
  scheduler.silent = 1'000'000;
  const auto job = sched::submit_once(scheduler, submission(), {sched::JobId(3)}, brief());
  REQUIRE(job);
  CHECK_FALSE(*job);
  CHECK(scheduler.orders == 1);
}

TEST_CASE("a caller that stops waiting learns that the outcome is unknown") {
  Deaf scheduler;
  scheduler.silent = 1'000'000;
  sched::Patience patience = brief();
  patience.limit = 1h;
  patience.given_up = [] { return true; };
  const auto job = sched::submit_once(scheduler, submission(), {}, patience);
  REQUIRE(job);
  CHECK_FALSE(*job);
}

TEST_CASE("a job is requeued once, however often the answer is lost") {
  for (const int lost : {0, 1, 2}) {
    CAPTURE(lost);
    Deaf scheduler;
    scheduler.lost = lost;
    scheduler.silent = 2;
    CHECK(sched::requeue_once(scheduler, sched::JobId(7), brief()));
    CHECK(scheduler.done == 1);
  }
}

TEST_CASE("a request to requeue that never arrived is given again") {
  Deaf scheduler;
  scheduler.hears = false;
  CHECK(sched::requeue_once(scheduler, sched::JobId(7), brief()));
  CHECK(scheduler.orders == 2);
  CHECK(scheduler.done == 1);
}

TEST_CASE("a cancel is repeated until it is answered") {
  Deaf scheduler;
  scheduler.lost = 3;
  CHECK(sched::cancel_for_certain(scheduler, sched::JobId(7), brief()));
  CHECK(scheduler.orders == 4);
  scheduler.lost = 1'000'000;
  const auto cancelled = sched::cancel_for_certain(scheduler, sched::JobId(7), brief());
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code == Errc::unreachable);
  CHECK(cancelled.error().message.find("may still do it") != std::string::npos);
}

TEST_CASE("a job whose record is refused is not cancelled, although the first question was lost") {
  const auto refuse = [](const sched::JobInfo&) -> Result<void> {
    return fail(Errc::not_found, "another job has this id");
  };
  Deaf scheduler;
  CHECK(sched::cancel_for_certain(scheduler, sched::JobId(7), brief(), refuse).error().code ==
        Errc::not_found);
  scheduler.done = 1;  // only then is it silent
  scheduler.silent = 1;
  CHECK(sched::cancel_for_certain(scheduler, sched::JobId(7), brief(), refuse).error().code ==
        Errc::unreachable);
  CHECK(scheduler.orders == 0);
}

TEST_CASE("an unreachable controller is sent no order") {
  Deaf scheduler;
  scheduler.done = 1;
  scheduler.silent = 1'000'000;
  CHECK(sched::cancel_for_certain(scheduler, sched::JobId(7), brief()).error().code ==
        Errc::unreachable);
  CHECK(sched::requeue_once(scheduler, sched::JobId(7), brief()).error().code == Errc::unreachable);
  CHECK(scheduler.orders == 0);
}

TEST_CASE("a signal is sent until it is answered, and one that ended the job has arrived") {
  Deaf scheduler;
  scheduler.lost = 3;
  CHECK(sched::signal_for_certain(scheduler, sched::JobId(7), 10, brief()));
  CHECK(scheduler.orders == 4);
  Deaf ended;
  ended.ends = true;
  CHECK(sched::signal_for_certain(ended, sched::JobId(7), 10, brief()));
  CHECK(ended.orders == 1);
}

TEST_CASE("a refused signal is an error, and an unanswered one has an unknown outcome") {
  Deaf over;
  over.ends = true;
  over.done = 1;
  CHECK(sched::signal_for_certain(over, sched::JobId(7), 10, brief()).error().code ==
        Errc::rejected);
  Deaf scheduler;
  scheduler.lost = 1'000'000;
  const auto sent = sched::signal_for_certain(scheduler, sched::JobId(7), 10, brief());
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == Errc::unreachable);
  CHECK(sent.error().message.find("may still do it") != std::string::npos);
}
