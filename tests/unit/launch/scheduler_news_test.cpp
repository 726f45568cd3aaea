// SPDX-License-Identifier: Apache-2.0
// How long a preempted job may still save.
#include "core/launch/agent/runner/scheduler_news.hpp"

#include <doctest/doctest.h>

namespace dts::launch {

using std::chrono::seconds;

namespace {

seconds after_preemption(sched::JobState state, std::int64_t end, std::int64_t now) {
  sched::JobInfo job;
  job.state = state;
  job.end_time = end;
  job.preempt_time = 1'000;
  return time_after_preemption(job, now, seconds(30));
}

}  // namespace

TEST_CASE("a job in its grace time has until its end, and at least a second") {
  CHECK(after_preemption(sched::JobState::running, 1'020, 1'000) == seconds(20));
  CHECK(after_preemption(sched::JobState::running, 1'020, 1'500) == seconds(1));
}

TEST_CASE("a job that is back in the queue already, or cancelled, has the kill's wait") {
  for (const auto state : {sched::JobState::pending, sched::JobState::cancelled})
    for (const std::int64_t end :
         {std::int64_t{0}, std::int64_t{1'000}, std::int64_t{6'090'403'215}})
      CHECK(after_preemption(state, end, 1'001) == seconds(30));
}

TEST_CASE("the job's end is not known after a pause until it is reported again") {
  TimeLimit end;
  Time now{};
  CHECK_FALSE(end.left(1'000));
  end.set(1'180);
  CHECK_FALSE(end.is_after_pause(now));
  CHECK_FALSE(end.is_after_pause(now += seconds(1)));
  CHECK(end.left(1'001) == seconds(179));
  CHECK(end.is_after_pause(now += seconds(200)));
  CHECK_FALSE(end.left(1'201));
  CHECK_FALSE(end.is_after_pause(now += seconds(1)));
  CHECK_FALSE(end.left(1'202));
  end.set(1'380);
  CHECK(end.left(1'203) == seconds(177));
}

TEST_CASE(
    "ranks are warned as early as the scheduler would, but not in the first half of the time") {
  CHECK(must_warn(seconds(120), seconds(3600), seconds(120)));
  CHECK_FALSE(must_warn(seconds(121), seconds(3600), seconds(120)));
  CHECK_FALSE(must_warn(seconds(100), seconds(180), seconds(120)));
  CHECK(must_warn(seconds(90), seconds(180), seconds(120)));
}

TEST_CASE("the agent warns once, however often the job's record says that its end is near") {
  OwnWarning warning;
  constexpr seconds k_given{3600};
  constexpr seconds k_margin{120};
  warning.set(true);
  CHECK_FALSE(warning.take(seconds(130), k_given, k_margin));
  CHECK(warning.take(seconds(119), k_given, k_margin));
  CHECK_FALSE(warning.take(seconds(118), k_given, k_margin));
  warning.set(true);  // the next record
  CHECK_FALSE(warning.take(seconds(89), k_given, k_margin));
  CHECK_FALSE(OwnWarning().take(seconds(89), k_given, k_margin));
}

}  // namespace dts::launch
