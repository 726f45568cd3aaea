// SPDX-License-Identifier: Apache-2.0
// How a run is stopped, given the current ledger, scheduler and lease.
#include "core/launch/job/stop_way.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using launch::StopWay;
using run::Event;
using sched::JobState;

const Event k_began{.attempt = 1, .job = JobId(7), .what = run::AttemptStarted{}};
const Event k_asked{.attempt = 1, .job = JobId(7), .what = run::StopRequested{}};
const Event k_ended{.attempt = 1, .job = JobId(7), .what = run::AttemptEnded{}};
const Event k_requeued{.attempt = 1, .job = JobId(7), .what = run::Requeued{}};

Event decided(const char* what) {
  return {.attempt = 1,
          .job = JobId(7),
          .what = run::Decided{.decision = run::Recorded<run::Action>::named(what)}};
}

struct Moment {
  const char* what;
  std::vector<Event> events;
  JobState state;
  std::uint32_t restarts;  // of the job; the lease has 0
  bool has_lease;
  StopWay way;
};

}  // namespace

TEST_CASE("a job is stopped by a signal only while one of its agents accepts requests") {
  for (const Moment& moment : std::vector<Moment>{
           {"in the queue", {}, JobState::pending, 0, false, StopWay::cancel},
           {"its script begins", {}, JobState::running, 0, false, StopWay::wait},
           {"runs", {k_began}, JobState::running, 0, true, StopWay::signal},
           {"suspended", {k_began}, JobState::suspended, 0, true, StopWay::wait},
           {"is being stopped", {k_began, k_asked}, JobState::running, 0, true, StopWay::signal},
           {"decides", {k_began, k_ended}, JobState::running, 0, true, StopWay::wait},
           {"pauses before the next attempt",
            {k_began, k_ended, decided("restart")},
            JobState::running,
            0,
            true,
            StopWay::signal},
           {"asks to come back",
            {k_began, k_ended, decided("requeue")},
            JobState::running,
            0,
            true,
            StopWay::wait},
           {"is back in the queue",
            {k_began, k_ended, decided("requeue"), k_requeued},
            JobState::pending,
            1,
            true,
            StopWay::cancel},
           {"runs again, but its new agent has not begun",
            {k_began, k_ended, decided("requeue"), k_requeued},
            JobState::running,
            1,
            true,
            StopWay::wait},
           {"runs again after its agent was lost",
            {k_began},
            JobState::running,
            1,
            true,
            StopWay::wait},
           {"has stopped",
            {k_began, k_ended, decided("stop")},
            JobState::running,
            0,
            true,
            StopWay::nothing},
           {"has failed without a word", {k_began}, JobState::failed, 0, true, StopWay::nothing},
           {"was done before it was asked for again",
            {k_began, k_ended, decided("done"), {.job = JobId(7), .what = run::Resumed{}}},
            JobState::pending,
            1,
            true,
            StopWay::cancel}}) {
    CAPTURE(moment.what);
    sched::JobInfo job;
    job.id = JobId(7);
    job.state = moment.state;
    job.restart_count = moment.restarts;
    const std::optional<run::Lease> lease =
        moment.has_lease ? std::optional(run::Lease{JobId(7), 0, "n1", 9, 0}) : std::nullopt;
    CHECK(launch::stop_way(moment.events, job, lease) == moment.way);
  }
}

TEST_CASE("a job whose nodes are being powered up has nothing to save") {
  sched::JobInfo job;
  job.id = JobId(7);
  job.state = JobState::running;
  job.preparing = true;
  CHECK(launch::stop_way({}, job, std::nullopt) == StopWay::cancel);
  CHECK(launch::stop_way({k_began}, job, run::Lease{JobId(7), 0, "n1", 9, 0}) == StopWay::signal);
  job.restart_count = 1;
  CHECK(launch::stop_way({k_began, k_ended, decided("requeue"), k_requeued},
                         job,
                         run::Lease{JobId(7), 0, "n1", 9, 0}) == StopWay::cancel);
}

TEST_CASE("another job's lease does not belong to an agent of this one") {
  sched::JobInfo successor;
  successor.id = JobId(8);
  successor.state = JobState::running;
  CHECK(launch::stop_way({k_began}, successor, run::Lease{JobId(7), 0, "n1", 9, 0}) ==
        StopWay::wait);
}

TEST_CASE("a run without a scheduler is stopped while its agent is alive") {
  CHECK(launch::stop_way({k_began}, run::Holder::alive) == StopWay::signal);
  CHECK(launch::stop_way({k_began}, run::Holder::gone) == StopWay::nothing);
  CHECK(launch::stop_way({k_began, k_ended}, run::Holder::alive) == StopWay::wait);
  CHECK(launch::stop_way({k_began, k_ended, decided("done")}, run::Holder::alive) ==
        StopWay::nothing);
}

TEST_CASE("a signal and the same one passed on are one interrupt") {
  using launch::k_passed_on;
  launch::Interrupts both;
  CHECK(both.count() == 0);
  CHECK(both.add(0));
  CHECK_FALSE(both.add(k_passed_on));
  CHECK(both.count() == 1);
  CHECK(both.add(k_passed_on));
  CHECK_FALSE(both.add(0));
  CHECK(both.count() == 2);

  launch::Interrupts one;
  CHECK(one.add(k_passed_on));
  CHECK(one.add(k_passed_on));
  CHECK(one.count() == 2);
}
