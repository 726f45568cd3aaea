// SPDX-License-Identifier: Apache-2.0
// The next attempt of a run: what becomes of one whose agent left no word, and what is told of its
// own end.
#include "core/run/ledger/take_over.hpp"

#include "core/base/files/files.hpp"
#include "core/run/ledger/events.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::run;

}  // namespace

TEST_CASE("an attempt without an end gets one from the agent that takes the next") {
  const tests::TemporaryFolder folder;
  const RunDirectory run{folder.path};
  REQUIRE(make_folders(run.checkpoints()));
  REQUIRE(append_event(run.ledger(), {.what = Created{}}));

  const TakenAttempt first = take_over(run, {JobId(7), 0, "n1", 123, 456}).value();
  CHECK(first.number == 1);
  CHECK(first.record.failures == 0);
  CHECK(read_ledger(run.ledger())->size() == 1);
  CHECK(read_lease(run, 1)->job == JobId(7));
  REQUIRE(append_event(run.ledger(), {.attempt = 1, .what = AttemptStarted{}}));

  const TakenAttempt second = take_over(run, {JobId(8), 1, "n1", 124, 456}).value();
  CHECK(second.number == 2);
  CHECK(second.record.failures == 1);
  const Event lost = read_ledger(run.ledger())->back();
  CHECK(lost.attempt == 1);
  const auto* end = lost.as<AttemptEnded>();
  REQUIRE(end != nullptr);
  CHECK(end->cause == Cause::agent_lost);
  CHECK(end->detail == "its agent recorded no end: killed, or its node was lost");

  // The end is written: it is not written again.
  const std::size_t known = read_ledger(run.ledger())->size();
  CHECK(take_over(run, {JobId(9), 2, "n1", 125, 456})->number == 3);
  CHECK(read_ledger(run.ledger())->size() == known);
}

TEST_CASE("an agent that takes over within the job of the one before says so") {
  const tests::TemporaryFolder folder;
  const RunDirectory run{folder.path};
  REQUIRE(make_folders(run.checkpoints()));
  const auto loss_before = [&run](const Lease& lease) {
    REQUIRE(take_over(run, lease));
    const auto events = read_ledger(run.ledger()).value();
    const auto* end = events.empty() ? nullptr : events.back().as<AttemptEnded>();
    REQUIRE(append_event(run.ledger(), {.attempt = latest_attempt(run), .what = AttemptStarted{}}));
    return end == nullptr ? "" : end->detail;
  };
  const std::string other = "its agent recorded no end: killed, or its node was lost";
  CHECK(loss_before({JobId(7), 0, "n1", 123, 456}).empty());
  CHECK(loss_before({JobId(7), 0, "n1", 124, 457}) ==
        "its agent was killed, and another one took over in the same job");
  CHECK(loss_before({JobId(7), 1, "n1", 125, 458}) == other);  // requeued
  CHECK(loss_before({JobId(8), 1, "n1", 126, 459}) == other);
  CHECK(loss_before({JobId(), 0, "n1", 127, 460}) == other);
  CHECK(loss_before({JobId(), 0, "n1", 128, 461}) == other);  // no job at all
}

TEST_CASE("an end and a decision are recorded with all their fields") {
  Outcome outcome{Cause::user_exit, 7, "rank 3 on n2: exited 7", 3, "n2"};
  outcome.unsaved = true;
  const AttemptEnded ended = ended_event(outcome);
  CHECK(ended.cause == Cause::user_exit);
  CHECK(ended.exit_code == 7);
  CHECK(ended.detail == "rank 3 on n2: exited 7");
  CHECK(ended.rank == 3);
  CHECK(ended.node == "n2");
  CHECK(ended.unsaved);
  CHECK(ended_event({Cause::completed, 0, "all"}).rank == std::nullopt);

  const Decided decided = decided_event({Action::requeue, 85, "preempted"});
  CHECK(decided.decision == Action::requeue);
  CHECK(decided.exit_code == 85);
  CHECK(decided.detail == "preempted");
}
