// SPDX-License-Identifier: Apache-2.0
// When a program counts as hung: by its beats, by its log, or never.
#include "core/launch/rank/progress.hpp"

#include <doctest/doctest.h>

using namespace dts::launch;
using namespace std::chrono_literals;
using Time = ProgressWatch::Time;

namespace {

// Checked every second without news, as a rank does.
void idle(ProgressWatch& watch, std::uint64_t step, std::uint64_t log, Time from, Time to) {
  for (Time now = from; now <= to; now += 1s) watch.observe(step, log, now);
}

}  // namespace

TEST_CASE("with a limit of its own: no beat for that long, from the start on") {
  ProgressWatch watch(10s, Time());
  CHECK_FALSE(watch.hung(Time(9s)));
  CHECK(watch.hung(Time(10s)) == 10s);
  watch.observe(1, 0, Time(10s));
  CHECK_FALSE(watch.hung(Time(19s)));
  idle(watch, 1, 500, Time(11s), Time(19s));  // it writes, but makes no progress
  CHECK(watch.hung(Time(20s)) == 10s);
  watch.observe(2, 500, Time(21s));
  CHECK_FALSE(watch.hung(Time(30s)));
}

TEST_CASE("without beats, a growing log is progress") {
  ProgressWatch watch(10s, Time());
  watch.observe(0, 100, Time(9s));
  CHECK_FALSE(watch.hung(Time(18s)));
  watch.observe(0, 100, Time(18s));
  CHECK(watch.hung(Time(19s)));
}

TEST_CASE("without a limit: never for a program that does not beat") {
  ProgressWatch watch(std::nullopt, Time());
  idle(watch, 0, 10, Time(1s), Time(10h));
  CHECK_FALSE(watch.hung(Time(10h)));
  watch.observe(1, 10, Time(10h));
  watch.observe(2, 10, Time(10h + 1s));
  idle(watch, 2, 10, Time(10h + 2s), Time(20h));
  CHECK_FALSE(watch.hung(Time(20h)));  // two beats say nothing about its pauses
}

TEST_CASE(
    "without a limit: ten times its longest pause, not counting the wait for the first beat") {
  ProgressWatch watch(std::nullopt, Time());
  idle(watch, 0, 0, Time(1s), Time(1h - 1s));
  watch.observe(1, 0, Time(1h));  // compiled for an hour
  idle(watch, 1, 0, Time(1h + 1s), Time(1h + 59s));
  watch.observe(2, 0, Time(1h + 1min));
  idle(watch, 2, 0, Time(1h + 61s), Time(1h + 119s));
  watch.observe(3, 0, Time(1h + 2min));
  idle(watch, 3, 0, Time(1h + 121s), Time(1h + 12min - 1s));
  CHECK_FALSE(watch.hung(Time(1h + 12min - 1s)));
  CHECK(watch.hung(Time(1h + 12min)) == 10min);
}

TEST_CASE("without a limit: five minutes at least") {
  ProgressWatch watch(std::nullopt, Time());
  for (int step = 1; step <= 5; ++step)
    watch.observe(static_cast<std::uint64_t>(step), 0, Time(step * 10ms));
  idle(watch, 5, 0, Time(1s), Time(5min));
  CHECK_FALSE(watch.hung(Time(5min)));
  CHECK(watch.hung(Time(5min + 50ms)));
}

TEST_CASE("time without checks does not count: the job was suspended") {
  ProgressWatch watch(60s, Time());
  idle(watch, 0, 0, Time(1s), Time(50s));
  idle(watch, 0, 0, Time(50s + 24h), Time(59s + 24h));
  CHECK_FALSE(watch.hung(Time(59s + 24h)));
  CHECK(watch.hung(Time(60s + 24h)));
}

TEST_CASE("a number that falls is also progress: a program may start anew") {
  ProgressWatch watch(10s, Time());
  watch.observe(100, 0, Time(1s));
  watch.observe(3, 0, Time(9s));
  CHECK_FALSE(watch.hung(Time(18s)));
}
