// SPDX-License-Identifier: Apache-2.0
// Where a run's time went: small stories with known numbers, and any story at all, whose phases
// must add up.
#include "core/run/summary/goodput.hpp"

#include "core/base/text/units.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

namespace {

using namespace dts;
using namespace dts::run;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::chrono::system_clock::time_point at(int second) {
  return *parse_utc("2026-01-02T03:00:00Z") + seconds(second);
}

std::string time(int second) {
  return format_utc(at(second));
}

std::string metric(const char* event, unsigned attempt, unsigned step, double took) {
  return fmt::format(R"({{"event":"{}","attempt":{},"step":{},"seconds":{}}})"
                     "\n",
                     event,
                     attempt,
                     step,
                     took);
}

std::string start(unsigned attempt, unsigned step, int second) {
  return fmt::format(R"({{"event":"start","attempt":{},"step":{},"time":"{}"}})"
                     "\n",
                     attempt,
                     step,
                     time(second));
}

Goodput account_of(const std::vector<Event>& events, const std::string& metrics, int until) {
  return account(events, summarise(events, metrics), at(until));
}

// Seconds in the order computing, queued, starting, saving, lost, stopping, down; and unmeasured
// and stalled, where there are such.
std::vector<double> of(const TimeUse& use) {
  std::vector<double> numbers;
  for (const milliseconds spent : use.spent)
    numbers.push_back(static_cast<double>(spent.count()) / 1000);
  while (numbers.size() > 7 && numbers.back() == 0) numbers.pop_back();
  return numbers;
}

using Numbers = std::vector<double>;

// Queued 10 s, then an attempt that is preempted, queued again, and one that is done.
std::vector<Event> preempted_once() {
  return {{.time = time(0), .what = Created{}},
          {.time = time(1), .job = JobId(7), .what = Submitted{}},
          {.time = time(10), .attempt = 1, .what = AttemptStarted{}},
          {.time = time(12), .attempt = 1, .what = RanksStarted{}},
          {.time = time(112), .attempt = 1, .what = StopRequested{.cause = Cause::preempted}},
          {.time = time(115), .attempt = 1, .what = AttemptEnded{.cause = Cause::preempted}},
          {.time = time(116), .attempt = 1, .what = Decided{.decision = Action::requeue}},
          {.time = time(117), .attempt = 1, .what = Requeued{}},
          {.time = time(150), .attempt = 2, .what = AttemptStarted{}},
          {.time = time(153), .attempt = 2, .what = RanksStarted{}},
          {.time = time(253), .attempt = 2, .what = AttemptEnded{.cause = Cause::completed}},
          {.time = time(253), .attempt = 2, .what = Decided{.decision = Action::done}}};
}

}  // namespace

TEST_CASE("from the ledger alone: queued, starting, computing, stopping and down") {
  std::vector<Event> events = preempted_once();
  events[5].as<AttemptEnded>()->step = 100;  // by its heartbeat: it got on
  events[10].as<AttemptEnded>()->step = 200;
  const Goodput found = account_of(events, "", 9999);
  CHECK(of(found.attempts.at(1)) == Numbers{100, 10, 2, 0, 0, 3, 0});
  CHECK(of(found.attempts.at(2)) == Numbers{100, 33, 3, 0, 0, 0, 2});
  CHECK(of(found.run) == Numbers{200, 43, 5, 0, 0, 3, 2});
  CHECK(found.run.total() == seconds(253));
  CHECK(found.run.goodput() == doctest::Approx(200.0 / 253));
}

TEST_CASE("the program tells when its first step began, what saves took and what was lost") {
  const std::string metrics = start(1, 0, 20) + metric("step", 1, 50, 1) +
                              metric("save", 1, 50, 4) + metric("step", 1, 88, 1) +
                              start(2, 66, 163) + metric("step", 2, 100, 1);
  const Goodput found = account_of(preempted_once(), metrics, 9999);
  // 92 s from its first step to the stop, 4 of them a save; 22 of 88 steps were done again.
  CHECK(of(found.attempts.at(1)) == Numbers{66, 10, 10, 4, 22, 3, 0});
  CHECK(of(found.attempts.at(2)) == Numbers{90, 33, 13, 0, 0, 0, 2});
  CHECK(found.run.total() == seconds(253));
}

TEST_CASE("a checkpoint made for a stop belongs to the stop") {
  const std::string metrics = start(1, 0, 12) + metric("save", 1, 50, 5) +
                              metric("save", 1, 88, 2) + metric("stop", 1, 88, 0);
  CHECK(account_of(preempted_once(), metrics, 9999).attempts.at(1)[Phase::saving] == seconds(5));
}

TEST_CASE("an agent that vanished is down from the last word of its program") {
  const std::vector<Event> events{
      {.time = time(0), .what = Created{}},
      {.time = time(0), .attempt = 1, .what = AttemptStarted{}},
      {.time = time(2), .attempt = 1, .what = RanksStarted{}},
      {.time = time(202), .attempt = 1, .what = AttemptEnded{.cause = Cause::agent_lost}},
      {.time = time(202), .attempt = 2, .what = AttemptStarted{}},
      {.time = time(203), .attempt = 2, .what = RanksStarted{}}};
  const std::string metrics =
      start(1, 0, 2) + metric("step", 1, 10, 30) + metric("save", 1, 10, 10);
  const Goodput found = account_of(events, metrics, 213);
  CHECK(of(found.attempts.at(1)) == Numbers{30, 0, 2, 10, 0, 0, 0});
  CHECK(of(found.attempts.at(2)) == Numbers{0, 0, 11, 0, 0, 0, 160});
  CHECK(account_of(events, "", 213).attempts.at(2)[Phase::down] == seconds(200));
}

TEST_CASE("an attempt that vanished before its ranks ran is down since its last event") {
  const std::vector<Event> events{
      {.time = time(0), .attempt = 1, .what = AttemptStarted{}},
      {.time = time(60), .attempt = 1, .what = AttemptEnded{.cause = Cause::agent_lost}},
      {.time = time(60), .attempt = 2, .what = AttemptStarted{}}};
  CHECK(of(account_of(events, "", 61).run) == Numbers{0, 0, 1, 0, 0, 0, 60});
}

TEST_CASE("a person who asks for a run whose agent vanished ends the time in which it was down") {
  const std::vector<Event> events{
      {.time = time(0), .attempt = 1, .what = AttemptStarted{}},
      {.time = time(2), .attempt = 1, .what = RanksStarted{}},
      {.time = time(500), .job = JobId(7), .what = Resumed{}},
      {.time = time(600), .attempt = 1, .what = AttemptEnded{.cause = Cause::agent_lost}},
      {.time = time(600), .attempt = 2, .what = AttemptStarted{}}};
  const Goodput found = account_of(events, "", 601);
  CHECK(of(found.attempts.at(1)) == Numbers{0, 0, 2, 0, 0, 0, 0});
  CHECK(of(found.attempts.at(2)) == Numbers{0, 100, 1, 0, 0, 0, 498});
}

TEST_CASE("a run that goes on is counted until now, one that waits is queued until now") {
  std::vector<Event> events = preempted_once();
  events.resize(4);
  CHECK(of(account_of(events, "", 42).run) == Numbers{0, 10, 2, 0, 0, 0, 0, 30});
  CHECK(of(account_of(events, start(1, 0, 12) + metric("step", 1, 9, 1), 42).run) ==
        Numbers{30, 10, 2, 0, 0, 0, 0});
  events = preempted_once();
  events.resize(8);
  const Goodput waiting = account_of(events, "", 200);
  CHECK(waiting.run[Phase::queued] == seconds(10 + 83));
  CHECK(waiting.attempts.at(1)[Phase::queued] == seconds(10));
}

TEST_CASE("the job that Slurm itself requeues is queued from the decision on") {
  std::vector<Event> events = preempted_once();
  events[6].as<Decided>()->decision = Action::wait;
  events.erase(events.begin() + 7);
  CHECK(of(account_of(events, "", 9999).attempts.at(2)) == Numbers{0, 34, 3, 0, 0, 0, 1, 100});
}

TEST_CASE("an end stops the clock, and a person who comes back later was away meanwhile") {
  std::vector<Event> events = preempted_once();
  events.back().as<Decided>()->decision = Action::stop;
  events.push_back({.time = time(1253), .job = JobId(7), .what = Resumed{}});
  CHECK(account_of(events, "", 1300).run[Phase::down] == seconds(2 + 1000));
  CHECK(account_of(events, "", 1300).run[Phase::queued] == seconds(43 + 47));
}

TEST_CASE("a clock that was set back takes no time away") {
  std::vector<Event> events = preempted_once();
  events[4].time = time(5);
  events[5].time = "yesterday";
  const Goodput found = account_of(events, "", 9999);
  CHECK(found.run.total() == seconds(253));
  CHECK(found.run[Phase::unmeasured] == seconds(100));  // of attempt 2
}

TEST_CASE("the phases of any story add up to its wall time, none is negative") {
  std::mt19937 random(20260102);
  const auto pick = [&](int most) { return static_cast<int>(random() % (most + 1U)); };
  const Action k_decisions[] = {Action::restart, Action::requeue, Action::wait, Action::resubmit};
  for (int story = 0; story < 2000; ++story) {
    CAPTURE(story);
    std::vector<Event> events{{.time = time(0), .what = Created{}}};
    std::string metrics;
    int now = 0;
    unsigned attempt = 0;
    for (int i = pick(30); i > 0; --i) {
      now += pick(50);
      const EventData whats[] = {Created{},
                                 Submitted{},
                                 AttemptStarted{},
                                 RanksStarted{},
                                 StopRequested{Cause::preempted},
                                 AttemptEnded{Cause::preempted},
                                 AttemptEnded{Cause::agent_lost},
                                 Decided{.decision = k_decisions[pick(3)]},
                                 Requeued{},
                                 Resumed{},
                                 Resubmitted{},
                                 Unknown{"from a later release"}};
      Event event{.time = time(now - (pick(9) == 0 ? pick(20) : 0)), .what = whats[pick(11)]};
      if (event.is<AttemptStarted>()) ++attempt;
      event.attempt = attempt;
      if (pick(3) == 0) metrics += start(attempt, static_cast<unsigned>(pick(50)), now + pick(9));
      metrics += metric("step", attempt, static_cast<unsigned>(pick(99)), pick(20));
      metrics += metric("save", attempt, static_cast<unsigned>(pick(99)), pick(20) / 3.0);
      events.push_back(std::move(event));
    }
    const int until = now + pick(100);
    const Goodput found = account_of(events, metrics, until);
    CHECK(found.run.total() == seconds(until));
    milliseconds attempts{0};
    for (const auto& [number, use] : found.attempts) {
      attempts += use.total();
      for (const milliseconds spent : use.spent) CHECK(spent.count() >= 0);
    }
    CHECK(attempts <= found.run.total());
  }
}

TEST_CASE("a time use is told in words and in seconds") {
  TimeUse use;
  CHECK(in_words(use).empty());
  CHECK(use.goodput() < 0);
  use[Phase::computing] = seconds(7200);
  use[Phase::lost] = milliseconds(40'400);
  use[Phase::queued] = seconds(605);
  use[Phase::saving] = milliseconds(999);
  CHECK(in_words(use) == "92 % of 2 h 10 min computing; queued 10 min 5 s, lost 40 s");
  CHECK(in_seconds(use).at("lost") == doctest::Approx(40.4));
  CHECK(in_seconds(use).at("wall") == doctest::Approx(7846.399));
  CHECK(in_seconds(use).size() == k_phases.size() + 1);
  CHECK(duration_words(std::chrono::hours(74)) == "3 d 2 h");
}

TEST_CASE("the time of a program that tells no steps is not called computing") {
  std::vector<Event> events{
      {.time = time(0), .what = Created{}},
      {.time = time(0), .job = JobId(7), .what = Submitted{}},
      {.time = time(10), .attempt = 1, .what = AttemptStarted{}},
      {.time = time(12), .attempt = 1, .what = RanksStarted{}},
      {.time = time(112), .attempt = 1, .what = AttemptEnded{.cause = Cause::completed}},
      {.time = time(112), .attempt = 1, .what = Decided{.decision = Action::done}}};
  const Goodput found = account_of(events, "", 112);
  CHECK(of(found.run) == Numbers{0, 10, 2, 0, 0, 0, 0, 100});
  CHECK(found.run.goodput() < 0);
  CHECK(in_words(found.run).starts_with("unknown: the program reported no steps in 1 min 52 s; "));
  // It ended in the second in which it began.
  for (const std::size_t event : {4U, 5U}) events[event].time = time(12);
  const Goodput brief = account_of(events, "", 12);
  CHECK(of(brief.run) == Numbers{0, 10, 2, 0, 0, 0, 0});
  CHECK(brief.attempts.at(1).goodput() < 0);
  CHECK(in_words(brief.run).starts_with("unknown: the program reported no steps in 12 s; "));
  // Its heartbeat did.
  for (const std::size_t event : {4U, 5U}) events[event].time = time(112);
  events[4].as<AttemptEnded>()->step = 5000;
  CHECK(of(account_of(events, "", 112).run) == Numbers{100, 10, 2, 0, 0, 0, 0});
}

TEST_CASE("while a program that tells steps is silent, it is not called computing") {
  const std::vector<Event> events{{.time = time(0), .what = Created{}},
                                  {.time = time(0), .attempt = 1, .what = AttemptStarted{}},
                                  {.time = time(0), .attempt = 1, .what = RanksStarted{}}};
  const RunSummary summary = summarise(events, start(1, 0, 0) + metric("step", 1, 50, 1));
  const auto spent = [&](int until, int reported) {
    return of(account(events, summary, at(until), at(reported)).run);
  };
  CHECK(spent(400, 100) == Numbers{100, 0, 0, 0, 0, 0, 0, 300});
  CHECK(spent(400, 395) == Numbers{400, 0, 0, 0, 0, 0, 0});  // its next step
  CHECK(spent(400, 500) == Numbers{400, 0, 0, 0, 0, 0, 0});  // another clock
  std::vector<Event> ended = events;
  ended.push_back(
      {.time = time(400), .attempt = 1, .what = AttemptEnded{.cause = Cause::completed}});
  CHECK(of(account(ended, summary, at(900), at(100)).attempts.at(1)) ==
        Numbers{400, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("the time before a hang was found is not called computing") {
  const std::vector<Event> events{
      {.time = time(0), .what = Created{}},
      {.time = time(0), .attempt = 1, .what = AttemptStarted{}},
      {.time = time(0), .attempt = 1, .what = RanksStarted{}},
      {.time = time(400),
       .attempt = 1,
       .what = AttemptEnded{.cause = Cause::hang, .stalled = Seconds(300)}},
      {.time = time(400), .attempt = 1, .what = Decided{.decision = Action::stop}}};
  const Goodput found = account_of(events, start(1, 0, 0) + metric("step", 1, 50, 1), 400);
  CHECK(of(found.run) == Numbers{100, 0, 0, 0, 0, 0, 0, 0, 300});
}
