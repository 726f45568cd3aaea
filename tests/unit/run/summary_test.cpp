// SPDX-License-Identifier: Apache-2.0
// The story of a run: attempts, steps lost between them, and what the metrics say.
#include "core/run/summary/summary.hpp"

#include "core/run/event/event_line.hpp"
#include "core/run/summary/goodput.hpp"
#include "tests/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ctime>

namespace {

using namespace dts::run;
using dts::JobId;

std::vector<Event> attempts(unsigned count) {
  std::vector<Event> events{{.time = "t0", .what = Created{}},
                            {.time = "t1", .job = JobId(7), .what = Submitted{}}};
  for (unsigned k = 1; k <= count; ++k) {
    events.push_back({.time = "begin",
                      .attempt = k,
                      .job = JobId(7),
                      .what = AttemptStarted{.nodes = {"n1", "n2"}}});
    events.push_back(
        {.time = "end",
         .attempt = k,
         .job = JobId(7),
         .what = AttemptEnded{.cause = Cause::rank_killed, .exit_code = 137, .detail = "rank 3"}});
    events.push_back({.time = "end",
                      .attempt = k,
                      .job = JobId(7),
                      .what = Decided{.exit_code = 0, .decision = Action::restart}});
  }
  return events;
}

std::string metric(const std::string& fields) {
  return "{" + fields + "}\n";
}

std::string start(unsigned attempt, unsigned at) {
  return metric(R"("event":"start","attempt":)" + std::to_string(attempt) + R"(,"step":)" +
                std::to_string(at));
}

std::string step(unsigned attempt, unsigned at) {
  return metric(R"("event":"step","attempt":)" + std::to_string(attempt) + R"(,"step":)" +
                std::to_string(at) + R"(,"digest":"d)" + std::to_string(at) + "\"");
}

}  // namespace

TEST_CASE("an attempt is told with its nodes, times, cause and decision") {
  const RunSummary summary = summarise(attempts(1), "");
  CHECK(summary.job == JobId(7));
  CHECK_FALSE(summary.done);
  REQUIRE(summary.attempts.size() == 1);
  const AttemptSummary& attempt = summary.attempts[0];
  CHECK(attempt.number == 1);
  CHECK(attempt.job == JobId(7));
  CHECK(attempt.nodes == std::vector<std::string>{"n1", "n2"});
  CHECK(attempt.started == "begin");
  CHECK(attempt.ended == "end");
  CHECK(attempt.cause == Cause::rank_killed);
  CHECK(attempt.decision == Action::restart);
  CHECK(attempt.detail == "rank 3");
  CHECK(attempt.exit_code == 137);
}

TEST_CASE("of an attempt without a metric neither its steps nor what it lost are known") {
  const RunSummary summary = summarise(attempts(1), "");
  CHECK(summary.attempts[0].first_step == -1);
  CHECK(summary.attempts[0].last_step == -1);
  CHECK(summary.attempts[0].steps_lost == -1);
  CHECK(summary.steps_lost == -1);
  CHECK_FALSE(summary.attempts[0].makes_progress);
  CHECK(summary.accuracy < 0);
  CHECK(summary.digest.empty());
}

TEST_CASE("a crash loses the steps after the checkpoint that the next attempt began from") {
  const RunSummary summary =
      summarise(attempts(2), start(1, 0) + step(1, 73) + start(2, 50) + step(2, 100));
  CHECK(summary.attempts[0].first_step == 0);
  CHECK(summary.attempts[0].last_step == 73);
  CHECK(summary.attempts[0].steps_lost == 23);
  CHECK(summary.attempts[1].steps_lost == -1);  // crashed, and nobody has gone on
  CHECK(summary.steps_lost == 23);
}

TEST_CASE("steps lost are added up over all attempts") {
  const RunSummary summary = summarise(
      attempts(3),
      start(1, 0) + step(1, 60) + start(2, 50) + step(2, 115) + start(3, 100) + step(3, 200));
  CHECK(summary.steps_lost == 10 + 15);
}

TEST_CASE("an attempt that saved on its stop loses nothing") {
  CHECK(
      summarise(attempts(2), start(1, 0) + step(1, 73) + start(2, 73) + step(2, 100)).steps_lost ==
      0);
}

TEST_CASE("an attempt that never got to training does not hide what was lost before it") {
  const RunSummary summary = summarise(attempts(3), start(1, 0) + step(1, 60) + start(3, 50));
  CHECK(summary.attempts[0].steps_lost == 10);
  CHECK(summary.attempts[1].last_step == -1);
  CHECK(summary.steps_lost == 10);
}

TEST_CASE("the last attempt's work is not lost before another one began behind it") {
  CHECK(summarise(attempts(1), start(1, 0) + step(1, 60)).steps_lost == 0);
}

TEST_CASE("what a stopped attempt lost is known at its end, by what its ranks said") {
  for (const bool unsaved : {false, true}) {
    std::vector<Event> events = attempts(1);
    AttemptEnded& ended = *events.end()[-2].as<AttemptEnded>();
    ended.cause = Cause::preempted;
    ended.unsaved = unsaved;
    const RunSummary summary = summarise(events, start(1, 0) + step(1, 60));
    CHECK(summary.attempts[0].steps_lost == (unsaved ? -1 : 0));
  }
}

TEST_CASE("an attempt that begins at step 0 though there was a checkpoint has begun anew") {
  std::vector<Event> events = attempts(2);
  events[5].as<AttemptStarted>()->checkpoint = "step-000000050";
  const RunSummary summary =
      summarise(events, start(1, 0) + step(1, 60) + start(2, 0) + step(2, 10));
  CHECK_FALSE(summary.attempts[0].anew);
  CHECK(summary.attempts[1].anew);
  CHECK(summary.attempts[1].resumable == "step-000000050");
  CHECK(summary.attempts[0].steps_lost == 60);
  CHECK_FALSE(summarise(events, start(1, 0) + step(1, 60) + start(2, 50)).attempts[1].anew);
}

TEST_CASE(
    "a heartbeat's step shows that it got on, and a quiet attempt is quiet until it is heard") {
  std::vector<Event> events = attempts(1);
  events.end()[-2].as<AttemptEnded>()->step = 7;
  CHECK(summarise(events, "").attempts[0].makes_progress);
  events.resize(3);
  events.push_back({.time = "t", .attempt = 1, .what = Quiet{.detail = "no output"}});
  CHECK(summarise(events, "").attempts[0].quiet == "no output");
  events.push_back({.time = "t", .attempt = 1, .what = Heard{}});
  CHECK(summarise(events, "").attempts[0].quiet.empty());
}

TEST_CASE("accuracy and digest are those of the newest lines that have them") {
  const RunSummary summary = summarise(
      attempts(1),
      start(1, 0) + step(1, 1) + metric(R"("event":"eval","attempt":1,"step":1,"accuracy":0.5)") +
          step(1, 2) +
          metric(R"("event":"done","attempt":1,"step":2,"accuracy":0.91,"digest":"final")"));
  CHECK(summary.accuracy == doctest::Approx(0.91));
  CHECK(summary.digest == "final");
}

TEST_CASE("the run is done when the last decision says so") {
  std::vector<Event> events = attempts(1);
  events.push_back(
      {.time = "t", .attempt = 2, .what = Decided{.exit_code = 0, .decision = Action::done}});
  CHECK(summarise(events, "").done);
  events.push_back(
      {.time = "t", .attempt = 3, .what = Decided{.exit_code = 0, .decision = Action::restart}});
  CHECK_FALSE(summarise(events, "").done);
}

TEST_CASE("the newest job is the run's, each attempt keeps its own") {
  std::vector<Event> events = attempts(1);
  events.push_back({.time = "t", .job = JobId(9), .what = Resumed{"asked for"}});
  events.push_back({.time = "t", .attempt = 2, .job = JobId(9), .what = AttemptStarted{}});
  const RunSummary summary = summarise(events, "");
  CHECK(summary.job == JobId(9));
  CHECK(summary.attempts[0].job == JobId(7));
  CHECK(summary.attempts[0].continued == "asked for");
  CHECK(summary.attempts[1].job == JobId(9));
  CHECK(summary.attempts[1].continued.empty());
}

TEST_CASE("an attempt that is being stopped shows why before it ends") {
  const RunSummary summary =
      summarise({{.time = "t", .attempt = 1, .what = AttemptStarted{}},
                 {.time = "t", .attempt = 1, .what = StopRequested{.cause = Cause::preempted}}},
                "");
  CHECK(summary.attempts[0].cause == Cause::preempted);
  CHECK(summary.attempts[0].ended.empty());
}

TEST_CASE("attempts are in the order of their numbers, whatever order the ledger has") {
  const RunSummary summary =
      summarise({{.time = "t", .attempt = 2, .what = AttemptStarted{}},
                 {.time = "t", .attempt = 1, .what = AttemptEnded{.cause = Cause::agent_lost}}},
                "");
  REQUIRE(summary.attempts.size() == 2);
  CHECK(summary.attempts[0].number == 1);
  CHECK(summary.attempts[1].number == 2);
}

TEST_CASE("lines of another program's metrics are passed over, ours between them are not") {
  const std::string foreign[] = {"epoch 1 loss 0.3\n",
                                 "\n",
                                 "{\n",
                                 "[1,2]\n",
                                 "7\n",
                                 "{\"step\":5}\n",
                                 "{\"attempt\":1}\n",
                                 "{\"attempt\":\"one\",\"step\":5}\n",
                                 "{\"attempt\":1,\"step\":\"five\"}\n",
                                 "{\"attempt\":1,\"step\":5,\"digest\":7}\n",
                                 "{\"attempt\":1,\"step\":5,\"accuracy\":\"good\"}\n",
                                 "{\"attempt\":-1,\"step\":5}\n",
                                 "{\"attempt\":2.5,\"step\":5}\n",
                                 "{\"attempt\":4294967297,\"step\":5}\n",
                                 "{\"attempt\":1,\"step\":1e300}\n",
                                 "{\"attempt\":1,\"step\":9223372036854775807}\n",
                                 "{\"attempt\":1,\"step\":null}\n",
                                 "\xff\xfe\n",
                                 "{\"attempt\":1,\"step\":6,\"dig"};
  for (const std::string& line : foreign) {
    CAPTURE(line);
    const RunSummary summary = summarise(attempts(1), start(1, 0) + line);
    REQUIRE(summary.attempts.size() == 1);
    CHECK(summary.attempts[0].first_step == 0);
    CHECK(summary.digest.empty());
    CHECK(summary.accuracy < 0);
  }
}

TEST_CASE("slow ranks belong to their attempt, and the newest advice to the run") {
  auto events = attempts(2);
  events.push_back({.time = "t",
                    .attempt = 2,
                    .what = Straggler{.detail = "rank 3 on n2 is slow",
                                      .rank = 3,
                                      .node = "n2",
                                      .phase = SlowPhase::compute}});
  for (const double every : {300.0, 500.0})
    events.push_back({.time = "t",
                      .attempt = 2,
                      .what = Advised{.detail = "save every " + std::to_string(every),
                                      .every = dts::Seconds(every)}});
  const RunSummary summary = summarise(events, "");
  CHECK(summary.attempts[0].slow.empty());
  REQUIRE(summary.attempts[1].slow.size() == 1);
  const SlowRank& slow = summary.attempts[1].slow[0];
  CHECK(slow.rank == 3);
  CHECK(slow.node == "n2");
  CHECK(slow.phase == SlowPhase::compute);
  CHECK(slow.detail == "rank 3 on n2 is slow");
  CHECK(summary.attempts[1].rank == std::nullopt);  // nobody failed
  CHECK(summary.advice.every == dts::Seconds(500));
  CHECK(summary.advice.detail.find("500") != std::string::npos);
}

namespace {

// Of programs that report no steps.
std::string ledger_of(unsigned attempts) {
  std::string ledger;
  for (unsigned attempt = 1; attempt <= attempts; ++attempt)
    for (const auto& [time, what] : std::initializer_list<std::pair<const char*, EventData>>{
             {"2026-01-02T03:04:05Z", AttemptStarted{.nodes = {"n1"}}},
             {"2026-01-02T03:04:06Z", RanksStarted{}},
             {"2026-01-02T03:04:07Z", AttemptEnded{.cause = Cause::rank_killed, .exit_code = 137}}})
      ledger += to_line({.time = time, .attempt = attempt, .job = JobId(41), .what = what}) + "\n";
  return ledger;
}

struct Times {
  double read = 0;
  double account = 0;
};

// Processor time, which other programs on the machine do not lengthen much.
Times times_of(unsigned attempts) {
  const std::string text = ledger_of(attempts);
  const std::clock_t began = std::clock();
  const Ledger read = parse_ledger(text);
  const RunSummary summary = summarise(read.events, "");
  const std::clock_t summarised = std::clock();
  CHECK(read.events.size() == std::size_t{3} * attempts);
  CHECK(summary.attempts.size() == attempts);
  CHECK(summary.attempts.back().cause == Cause::rank_killed);
  const Goodput goodput = account(read.events, summary, std::chrono::system_clock::now());
  CHECK(goodput.attempts.size() == attempts);
  return {static_cast<double>(summarised - began), static_cast<double>(std::clock() - summarised)};
}

}  // namespace

TEST_CASE("very many attempts are summarised in time that grows with their number only") {
  // 16 times as many: 16 times as long, and 256 times with a search for each attempt.
  const unsigned count = dts::tests::k_sanitized ? 500 : 2'000;
  const Times few = times_of(count), many = times_of(16 * count);
  CHECK(many.read < 64 * few.read);
  CHECK(many.account < 64 * few.account);
}

TEST_CASE("half an object between the metrics is numbered, the program's own text is not") {
  const std::string good = "{\"event\":\"step\",\"attempt\":1,\"step\":7}\n";
  const RunSummary summary =
      summarise({}, "hello\n" + good + "{\"event\":\"st\n" + std::string(64, '\0') + "\n{\"half");
  CHECK(summary.damaged_metrics == std::vector<unsigned>{3, 4});
  CHECK(summary.attempts.front().last_step == 7);
}

TEST_CASE("NULs at the end of metrics are named, and a line behind them counts") {
  const std::string nuls(64, '\0'), good = "{\"event\":\"step\",\"attempt\":1,\"step\":7}\n";
  CHECK(summarise({}, good + nuls).damaged_metrics == std::vector<unsigned>{2});
  const RunSummary summary =
      summarise({}, good + nuls + "{\"event\":\"step\",\"attempt\":1,\"step\":9}\n");
  CHECK(summary.damaged_metrics == std::vector<unsigned>{2});
  CHECK(summary.attempts.front().last_step == 9);
}
