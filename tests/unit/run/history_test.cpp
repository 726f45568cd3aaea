// SPDX-License-Identifier: Apache-2.0
// What the ledger says of earlier attempts: crashes, progress between them, and who never ended.
#include "core/run/ledger/history.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts::run;

// A ledger told in the words of its reader.
class RunEvents {
 public:
  RunEvents& attempt(const char* cause, const char* saved_before, const char* saved_after) {
    started(++number_, saved_before);
    events_.push_back(
        {.time = "t",
         .attempt = number_,
         .what = AttemptEnded{.cause = Recorded<Cause>::named(cause), .checkpoint = saved_after}});
    return *this;
  }

  RunEvents& unfinished() {
    started(++number_, "");
    return *this;
  }

  RunEvents& started(unsigned number, const char* checkpoint) {
    events_.push_back(
        {.time = "t", .attempt = number, .what = AttemptStarted{.checkpoint = checkpoint}});
    return *this;
  }

  RunEvents& resumed() {
    events_.push_back({.time = "t", .what = Resumed{}});
    return *this;
  }

  [[nodiscard]] const std::vector<Event>& events() const { return events_; }

  // The times of the last attempt's start and end.
  RunEvents& from_to(const char* from, const char* to) {
    events_.end()[-2].time = from;
    events_.back().time = to;
    return *this;
  }

  // The newest step that the last attempt told.
  RunEvents& at_step(std::int64_t step) {
    events_.back().as<AttemptEnded>()->step = step;
    return *this;
  }

  [[nodiscard]] Circumstances counted() const { return count_failures(events_); }

 private:
  unsigned number_ = 0;
  std::vector<Event> events_{{.time = "t", .what = Created{}}};
};

}  // namespace

TEST_CASE("a run that only began has no failures") {
  const Circumstances counted = RunEvents().counted();
  CHECK(counted.count(Kind::crash) == 0);
  CHECK(counted.count(Kind::launch) == 0);
  CHECK(counted.without_progress == 0);
}

TEST_CASE(
    "a killed rank and a dead launcher are crashes; a preemption and a user's error are not") {
  const Circumstances counted = RunEvents()
                                    .attempt("rank_killed", "", "step-000000050")
                                    .attempt("preempted", "step-000000050", "step-000000070")
                                    .attempt("launcher_died", "step-000000070", "step-000000100")
                                    .attempt("user_exit", "step-000000100", "step-000000100")
                                    .counted();
  CHECK(counted.count(Kind::crash) == 2);
  CHECK(counted.count(Kind::launch) == 0);
}

TEST_CASE("a crash after a new checkpoint is progress, one without is not") {
  RunEvents story;
  CHECK(story.attempt("rank_killed", "", "").counted().without_progress == 1);
  CHECK(story.attempt("rank_killed", "", "step-000000050").counted().without_progress == 0);
  CHECK(
      story.attempt("rank_killed", "step-000000050", "step-000000050").counted().without_progress ==
      1);
  CHECK(
      story.attempt("rank_killed", "step-000000050", "step-000000050").counted().without_progress ==
      2);
  CHECK(story.counted().count(Kind::crash) == 4);
}

TEST_CASE("the hundredth checkpoint is newer than the ninetieth, and step 1000000 than 999950") {
  CHECK(RunEvents()
            .attempt("rank_killed", "step-000000090", "step-000000100")
            .counted()
            .without_progress == 0);
  CHECK(RunEvents()
            .attempt("rank_killed", "step-000999950", "step-001000000")
            .counted()
            .without_progress == 0);
  CHECK(RunEvents().attempt("rank_killed", "step-90", "step-100").counted().without_progress == 0);
  CHECK(RunEvents().attempt("rank_killed", "step-100", "step-90").counted().without_progress == 1);
}

TEST_CASE("a preemption between two crashes ends their row") {
  CHECK(RunEvents()
            .attempt("rank_killed", "", "")
            .attempt("preempted", "", "")
            .attempt("rank_killed", "", "")
            .counted()
            .without_progress == 1);
}

TEST_CASE("a failed launch between two crashes does not end their row") {
  const Circumstances counted = RunEvents()
                                    .attempt("rank_killed", "", "")
                                    .attempt("launch_failed", "", "")
                                    .attempt("rank_killed", "", "")
                                    .counted();
  CHECK(counted.without_progress == 2);
  CHECK(counted.count(Kind::launch) == 1);
}

TEST_CASE("a person's requeue begins all budgets anew") {
  const Circumstances counted = RunEvents()
                                    .attempt("rank_killed", "", "")
                                    .attempt("launch_failed", "", "")
                                    .resumed()
                                    .counted();
  CHECK(counted.count(Kind::crash) == 0);
  CHECK(counted.count(Kind::launch) == 0);
  CHECK(counted.without_progress == 0);
}

TEST_CASE("a cause of a later version is no crash") {
  CHECK(RunEvents().attempt("struck_by_lightning", "", "").counted().count(Kind::crash) == 0);
}

TEST_CASE("the newest attempt without an end is the unfinished one") {
  CHECK_FALSE(unfinished_attempt({}));
  CHECK_FALSE(unfinished_attempt(RunEvents().attempt("preempted", "", "").events()));
  CHECK(unfinished_attempt(RunEvents().attempt("preempted", "", "").unfinished().events()) == 2U);
  CHECK(unfinished_attempt(RunEvents().unfinished().attempt("preempted", "", "").events()) == 1U);
  CHECK(unfinished_attempt(RunEvents().unfinished().unfinished().events()) == 2U);
}

TEST_CASE("an attempt is asked to stop by a user, not by a scheduler or another part") {
  const auto is_asked = [](Cause cause, const char* detail) {
    std::vector<Event> events = RunEvents().unfinished().events();
    events.push_back({.time = "t", .attempt = 1, .what = StopRequested{cause, detail}});
    CHECK_FALSE(is_asked_to_stop(events, 2));
    return is_asked_to_stop(events, 1);
  };
  CHECK(is_asked(Cause::stopped, k_asked_by_user));
  CHECK(is_asked(Cause::stopped, "signal 2"));
  CHECK_FALSE(is_asked(Cause::stopped, k_asked_by_part));
  CHECK_FALSE(is_asked(Cause::signalled, "signal 15"));
  CHECK_FALSE(is_asked(Cause::time_limit, "the time limit is near"));
}

TEST_CASE("an attempt that a user stops stays stopped, whatever its agent could still record") {
  using Events = std::vector<Event>;
  const Event asked{
      .time = "t", .attempt = 1, .what = StopRequested{Cause::stopped, k_asked_by_user}};
  const Event preempted{.time = "t", .attempt = 1, .what = StopRequested{Cause::preempted, ""}};
  const auto ended = [](Cause cause) {
    return Event{.time = "t", .attempt = 1, .what = AttemptEnded{.cause = cause}};
  };
  const Event decided{.time = "t", .attempt = 1, .what = Decided{.decision = Action::stop}};
  const Event resumed{.time = "t", .what = Resumed{}};
  const Event next{.time = "t", .attempt = 2, .what = AttemptStarted{}};

  const struct {
    Events after;  // the attempt has begun
    std::optional<unsigned> stopped;
  } rows[] = {{{}, std::nullopt},
              {{asked}, 1U},
              {{preempted}, std::nullopt},
              {{asked, ended(Cause::stopped)}, 1U},
              {{asked, ended(Cause::rank_killed)}, 1U},
              {{asked, ended(Cause::completed)}, std::nullopt},
              {{asked, ended(Cause::stopped), decided}, std::nullopt},
              {{asked, resumed}, std::nullopt},
              {{asked, resumed, next}, std::nullopt}};

  for (const auto& row : rows) {
    Events events = RunEvents().unfinished().events();
    events.insert(events.end(), row.after.begin(), row.after.end());
    CAPTURE(row.after.size());
    CHECK(stopped_attempt(events) == row.stopped);
  }
}

TEST_CASE("agents that are lost in a row count until a checkpoint, another end or a requeue") {
  const char* const lost = "agent_lost";
  CHECK(agents_lost_in_a_row({}) == 0);
  RunEvents twice;
  twice.attempt(lost, "", "").attempt(lost, "", "");
  CHECK(agents_lost_in_a_row(twice.events()) == 2);
  CHECK(agents_lost_in_a_row(RunEvents(twice).unfinished().events()) == 2);
  CHECK(agents_lost_in_a_row(RunEvents(twice).attempt("rank_killed", "", "").events()) == 0);
  CHECK(agents_lost_in_a_row(RunEvents(twice).resumed().attempt(lost, "", "").events()) == 1);
  const char* const step = "step-000000050";
  CHECK(agents_lost_in_a_row(RunEvents(twice).attempt(lost, step, "").events()) == 1);
  CHECK(agents_lost_in_a_row(
            RunEvents(twice).attempt(lost, step, "").attempt(lost, step, "").events()) == 2);
}

TEST_CASE("time counts from each attempt's start to its end, and a clock set back counts nothing") {
  const Circumstances counted = RunEvents()
                                    .attempt("preempted", "", "")
                                    .from_to("2026-11-21T10:00:00Z", "2026-11-21T11:30:00Z")
                                    .attempt("preempted", "", "")
                                    .from_to("2026-11-21T12:00:00Z", "2026-11-21T11:00:00Z")
                                    .attempt("time_limit", "", "")
                                    .from_to("2026-11-30T23:59:59Z", "2026-12-01T00:00:01Z")
                                    .counted();
  CHECK(counted.elapsed == std::chrono::seconds(90 * 60 + 2));
}

TEST_CASE("attempts that ask again without proof of progress are counted, however long they took") {
  RunEvents story;
  const auto asked_again = [&](const char* saved, const char* end, std::int64_t step = -1) {
    return story.attempt("checkpointed", "", saved)
        .from_to("2026-11-21T10:00:00Z", end)
        .at_step(step)
        .counted()
        .unproven;
  };
  CHECK(asked_again("", "2026-11-21T10:00:02Z") == 1);
  CHECK(asked_again("", "2026-11-21T19:00:00Z") == 2);
  CHECK(asked_again("", "2026-11-21T10:00:02Z", 5) == 0);
  CHECK(asked_again("", "2026-11-21T10:00:02Z", 5) == 1);  // the same step once more
  CHECK(asked_again("", "2026-11-21T10:00:02Z", 4) == 2);
  CHECK(asked_again("", "2026-11-21T10:00:02Z", 6) == 0);
  CHECK(asked_again("", "2026-11-21T10:00:02Z") == 1);
  CHECK(asked_again("step-000000010", "2026-11-21T10:00:00Z") == 0);
}

TEST_CASE("attempts between two checkpoints prove nothing unless they made progress") {
  CHECK(RunEvents()
            .attempt("checkpointed", "", "")
            .attempt("preempted", "", "")
            .attempt("rank_killed", "", "")
            .attempt("checkpointed", "", "")
            .counted()
            .unproven == 2);
  CHECK(RunEvents()
            .attempt("checkpointed", "", "")
            .attempt("preempted", "", "step-000000010")
            .attempt("checkpointed", "step-000000010", "step-000000010")
            .counted()
            .unproven == 1);
  CHECK(RunEvents().attempt("checkpointed", "", "").resumed().counted().unproven == 0);
}

TEST_CASE("a crash, a request to be run again and a crash are two crashes in a row") {
  CHECK(RunEvents()
            .attempt("rank_killed", "", "")
            .attempt("checkpointed", "", "")
            .attempt("rank_killed", "", "")
            .counted()
            .without_progress == 2);
}

namespace {

struct End {
  const char* cause;
  bool unsaved;
  unsigned failures;
  double running;  // seconds
};

// An attempt whose ranks ran from :10 to the minute's end.
std::vector<Event> ended(const End& end) {
  return {
      {.time = "2026-01-02T03:00:00Z", .attempt = 1, .what = AttemptStarted{}},
      {.time = "2026-01-02T03:00:10Z", .attempt = 1, .what = RanksStarted{}},
      {.time = "2026-01-02T03:00:20Z",
       .attempt = 1,
       .what = Advised{.every = dts::Seconds(300), .save = dts::Seconds(4)}},
      {.time = "2026-01-02T03:01:00Z",
       .attempt = 1,
       .what = AttemptEnded{.cause = Recorded<Cause>::named(end.cause), .unsaved = end.unsaved}},
  };
}

}  // namespace

TEST_CASE("what counts as a failure when it is reckoned how often to save: unsaved work was lost") {
  for (const End& end : {End{"completed", false, 0, 50},
                         End{"preempted", false, 0, 50},
                         End{"preempted", true, 1, 50},
                         End{"time_limit", true, 1, 50},
                         End{"rank_killed", false, 1, 50},
                         End{"hang", false, 1, 50},
                         End{"node_failed", false, 1, 50},
                         End{"agent_lost", false, 1, 0},  // when it vanished nobody knows
                         End{"user_exit", false, 1, 50},
                         End{"of a later release", false, 0, 0}}) {
    CAPTURE(end.cause);
    CAPTURE(end.unsaved);
    const FailureRecord record = failure_record(ended(end));
    CHECK(record.failures == end.failures);
    CHECK(record.running.count() == end.running);
    CHECK(record.save.count() == 4);
  }
}

TEST_CASE("an attempt whose ranks never ran says nothing of failures") {
  auto events = ended({"launch_failed", false, 0, 0});
  events.erase(events.begin() + 1);
  CHECK(failure_record(events).failures == 0);
  CHECK(failure_record(events).running.count() == 0);
}

TEST_CASE("the newest save counts, and a person's word begins the record anew but not the save's") {
  auto events = ended({"rank_killed", false, 0, 0});
  events.back().as<AttemptEnded>()->save = dts::Seconds(7);
  CHECK(failure_record(events).save.count() == 7);
  events.push_back({.time = "2026-01-02T04:00:00Z", .what = Resumed{}});
  const FailureRecord record = failure_record(events);
  CHECK(record.failures == 0);
  CHECK(record.running.count() == 0);
  CHECK(record.save.count() == 7);
}

TEST_CASE("the decision that ended a run is the last word, unless the run goes on after it") {
  struct Row {
    const char* what;
    std::vector<Event> events;
    const char* decision;  // empty: it goes on
  };

  for (const Row& row :
       std::vector<Row>{{"nothing yet", {{.what = Created{}}}, ""},
                        {"done",
                         {{.what = AttemptStarted{}}, {.what = Decided{.decision = Action::done}}},
                         "done"},
                        {"stopped", {{.what = Decided{.decision = Action::stop}}}, "stop"},
                        {"restart", {{.what = Decided{.decision = Action::restart}}}, ""},
                        {"refused after all",
                         {{.what = Decided{.decision = Action::requeue}},
                          {.what = Decided{.decision = Action::stop}}},
                         "stop"},
                        {"asked for again",
                         {{.what = Decided{.decision = Action::stop}}, {.what = Resumed{}}},
                         ""},
                        {"again by itself",
                         {{.what = Decided{.decision = Action::stop}}, {.what = AttemptStarted{}}},
                         ""},
                        {"a word after the last",
                         {{.what = Decided{.decision = Action::stop}}, {.what = Submitted{}}},
                         "stop"}}) {
    CAPTURE(row.what);
    const Event* last = final_decision(row.events);
    CHECK((last == nullptr ? "" : last->as<Decided>()->decision.name()) == row.decision);
    CHECK(is_done(row.events) == (row.decision == std::string("done")));
  }
}
