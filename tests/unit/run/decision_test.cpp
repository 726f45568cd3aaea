// SPDX-License-Identifier: Apache-2.0
// What happens after an attempt, for every cause in every circumstance that matters.
#include "core/run/ledger/decision.hpp"

#include "core/run/ledger/events.hpp"
#include "core/run/ledger/history.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>
#include <vector>

namespace {

using namespace dts::run;
using dts::tests::contains;

const Circumstances k_in_slurm{.in_scheduler = true};
const Circumstances k_in_slurm_no_requeue{.in_scheduler = true, .may_requeue = false};
const Circumstances k_requeued_already{.in_scheduler = true, .already_requeued = true};
const Circumstances k_here{.in_scheduler = false};

struct Row {
  Cause cause;
  Action in_slurm, no_requeue, requeued_already, here;
};

// The first crash, the first launch failure.
const std::vector<Row> k_table{
    {Cause::completed, Action::done, Action::done, Action::done, Action::done},
    {Cause::preempted, Action::requeue, Action::stop, Action::wait, Action::stop},
    {Cause::time_limit, Action::requeue, Action::stop, Action::wait, Action::stop},
    {Cause::cancelled, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::requeued, Action::requeue, Action::stop, Action::wait, Action::stop},
    {Cause::node_failed, Action::requeue, Action::stop, Action::wait, Action::stop},
    {Cause::stopped, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::signalled, Action::requeue, Action::stop, Action::wait, Action::stop},
    {Cause::checkpointed, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::no_restart, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::rank_killed, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::out_of_memory, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::gpu_error, Action::requeue, Action::restart, Action::wait, Action::restart},
    {Cause::gpu_unseen, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::storage_error, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::comm_timeout, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::rendezvous, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::hang, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::corruption, Action::stop, Action::stop, Action::wait, Action::stop},
    {Cause::damaged, Action::stop, Action::stop, Action::wait, Action::stop},
    {Cause::disk_full, Action::stop, Action::stop, Action::wait, Action::stop},
    {Cause::no_program, Action::stop, Action::stop, Action::wait, Action::stop},
    {Cause::set_up_failed, Action::stop, Action::stop, Action::wait, Action::stop},
    {Cause::user_exit, Action::stop, Action::stop, Action::wait, Action::stop},
    {Cause::launcher_died, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::launch_failed, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::wrong_ranks, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::second_launcher, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::wrong_binding, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::fenced, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::run_vanished, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::run_damaged, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::agent_lost, Action::requeue, Action::stop, Action::wait, Action::stop},
};

Decision decided(Cause cause,
                 const Circumstances& now,
                 const char* on = "",
                 const char* node = "") {
  const auto policy = parse_policy(on);
  REQUIRE(policy);
  return decide({cause, 42, "detail", std::nullopt, node}, now, *policy);
}

void check_action(Cause cause, const char* where, Circumstances now, Action expected) {
  CAPTURE(to_string(cause));
  CAPTURE(where);
  now.failures[kind_of(cause)] = 1;
  now.without_progress = kind_of(cause) == Kind::crash ? 1 : 0;
  const Decision decision = decided(cause, now);
  CHECK(std::string(to_string(decision.action)) == to_string(expected));
  CHECK_FALSE(decision.why.empty());
  CHECK(decision.exit_code == (decision.action == Action::stop ? 42 : 0));
}

Circumstances after(Kind kind, unsigned failures, bool in_scheduler = false) {
  return {.in_scheduler = in_scheduler, .failures = {{kind, failures}}};
}

}  // namespace

TEST_CASE("every cause leads to the action of the table") {
  REQUIRE(k_table.size() == all_causes().size());
  for (const Row& row : k_table) {
    check_action(row.cause, "in Slurm", k_in_slurm, row.in_slurm);
    check_action(row.cause, "with --no-requeue", k_in_slurm_no_requeue, row.no_requeue);
    check_action(row.cause, "requeued already", k_requeued_already, row.requeued_already);
    check_action(row.cause, "without a scheduler", k_here, row.here);
  }
}

TEST_CASE("whatever ends a run that was asked to stop, it stops; one that is done is done") {
  for (const Cause cause : all_causes())
    for (const Circumstances& where : {k_in_slurm, k_requeued_already, k_here}) {
      CAPTURE(to_string(cause));
      Circumstances now = where;
      now.stop_asked = k_asked_by_user;
      now.has_spares = true;
      const Decision decision = decided(cause, now, "", "n1");
      CHECK((decision.action == Action::done) == (cause == Cause::completed));
      CHECK((decision.action == Action::stop) == (cause != Cause::completed));
    }
  Circumstances now = k_in_slurm;
  now.stop_asked = k_asked_by_user;
  CHECK(decided(Cause::preempted, now).why ==
        "asked for by `dtsubmit stop`; `dtsubmit requeue` continues it");
}

TEST_CASE("no reason of a run without a scheduler names the command for jobs") {
  for (const Cause cause : all_causes())
    for (const char* asked : {"", k_asked_by_user}) {
      Circumstances now = k_here;
      now.stop_asked = asked;
      CHECK_FALSE(contains(decided(cause, now).why, "requeue"));
    }
  CHECK(decided(Cause::stopped, k_here).why ==
        "stopped as requested; `dtsubmit run --continue` continues it");
}

TEST_CASE("three crashes are forgiven, the fourth is not") {
  for (const Cause cause : {Cause::rank_killed, Cause::launcher_died, Cause::out_of_memory})
    for (unsigned crashes = 1; crashes <= 5; ++crashes) {
      const Decision decision = decided(cause, after(Kind::crash, crashes));
      CHECK((decision.action == Action::restart) == (crashes <= 3));
      if (crashes > 3) CHECK(decision.exit_code == 42);
    }
}

TEST_CASE("two hundred preemptions, lost nodes or time limits are forgiven") {
  for (const Cause cause : {Cause::preempted, Cause::node_failed, Cause::time_limit})
    CHECK(decided(cause, after(kind_of(cause), 200, true)).action == Action::requeue);
}

TEST_CASE("a signal that nothing explains brings a job back, but not for ever") {
  CHECK(decided(Cause::signalled, after(Kind::signalled, 20, true)).action == Action::requeue);
  CHECK(decided(Cause::signalled, after(Kind::signalled, 21, true)).action == Action::stop);
  CHECK(decided(Cause::signalled, after(Kind::signalled, 1, true), "signalled=stop").action ==
        Action::stop);
  Circumstances asked = after(Kind::signalled, 1, true);
  asked.stop_asked = k_asked_by_user;
  CHECK(decided(Cause::signalled, asked).action == Action::stop);
}

TEST_CASE("two crashes in a row that saved nothing end the run, and it says so") {
  CHECK(
      decided(Cause::rank_killed, {.failures = {{Kind::crash, 1}}, .without_progress = 1}).action ==
      Action::restart);
  const Decision twice =
      decided(Cause::rank_killed, {.failures = {{Kind::crash, 2}}, .without_progress = 2});
  CHECK(twice.action == Action::stop);
  CHECK(twice.why.find("2 crashes in a row without a new checkpoint") != std::string::npos);
}

TEST_CASE("a budget that is spent does not stop a job that Slurm has requeued already") {
  const Decision decision = decided(Cause::rank_killed,
                                    {.in_scheduler = true,
                                     .already_requeued = true,
                                     .failures = {{Kind::crash, 9}},
                                     .without_progress = 9});
  CHECK(decision.action == Action::wait);
}

TEST_CASE("two launch failures are forgiven, the third is not, and the second waits longer") {
  for (unsigned failures = 1; failures <= 4; ++failures) {
    const Decision decision = decided(Cause::launch_failed, after(Kind::launch, failures));
    CHECK((decision.action == Action::restart) == (failures <= 2));
    if (failures <= 2) CHECK(decision.delay == std::chrono::seconds(failures));
  }
}

TEST_CASE("a launch that failed on a node, and a broken GPU, are tried without that node") {
  for (const Cause cause : {Cause::launch_failed, Cause::rendezvous, Cause::gpu_error}) {
    CAPTURE(to_string(cause));
    const Decision decision = decided(cause, after(kind_of(cause), 1, true), "", "n7");
    CHECK(decision.action == Action::requeue);
    CHECK(decision.exclude == "n7");
    CHECK(decision.why.find("n7") != std::string::npos);
    // Without a scheduler there are no other nodes.
    CHECK(decided(cause, after(kind_of(cause), 1), "", "n7").action == Action::restart);
    CHECK(decided(cause, after(kind_of(cause), 9, true), "", "n7").action == Action::stop);
  }
  CHECK(decided(Cause::rank_killed, after(Kind::crash, 1, true), "", "n7").exclude.empty());
}

TEST_CASE("a taken port that the next attempt will not use is no reason to avoid a node") {
  Outcome outcome{Cause::rendezvous, 1, "EADDRINUSE", std::nullopt, "n7"};
  outcome.port_changes = true;
  const auto now = after(Kind::launch, 1, true);
  const Decision decision = decide(outcome, now, default_policy());
  CHECK(decision.action == Action::restart);
  CHECK(decision.exclude.empty());
}

TEST_CASE("a program that asks to be run again without proof of progress is stopped at the third") {
  for (unsigned unproven = 0; unproven <= 25; ++unproven) {
    const Circumstances now{.failures = {{Kind::checkpointed, unproven}}, .unproven = unproven};
    const Decision decision = decided(Cause::checkpointed, now);
    CAPTURE(decision.why);
    CHECK((decision.action == Action::restart) == (unproven < 3));
    if (decision.action == Action::stop) {
      CHECK(decision.why.find("without a new checkpoint") != std::string::npos);
      CHECK(decision.why.find("--on checkpointed=restart:N") != std::string::npos);
      CHECK(decision.exit_code == 42);
    } else {
      CHECK((decision.why.find("of 3 such attempts") != std::string::npos) == (unproven > 0));
    }
    // Whoever knows better says so.
    const Decision raised = decided(Cause::checkpointed, now, "checkpointed=restart:10");
    CHECK((raised.action == Action::restart) == (unproven <= 10));
    CHECK(raised.delay <= std::chrono::seconds(60));
    const Decision free = decided(Cause::checkpointed, now, "checkpointed=restart:unlimited");
    CHECK(free.action == Action::restart);
    // Another action alone is no word on how often.
    const Decision queued =
        decided(Cause::checkpointed,
                {.in_scheduler = true, .failures = now.failures, .unproven = unproven},
                "checkpointed=requeue");
    CHECK((queued.action == Action::requeue) == (unproven < 3));
  }
}

TEST_CASE("a stop that the user asked for is not put down to some signal") {
  const Outcome outcome{Cause::stopped, 85, "asked for by `dtsubmit stop`; every rank saved"};
  const Decision asked = decide(outcome, {.stop_asked = k_asked_by_user}, default_policy());
  CHECK(asked.action == Action::stop);
  CHECK(asked.exit_code == 85);
  CHECK(asked.why.find("asked for by `dtsubmit stop`") != std::string::npos);
  const Decision other = decide(outcome, {}, default_policy());
  CHECK(other.why.find("asked for") == std::string::npos);
}

TEST_CASE("with progress a program may ask to be run again for ever") {
  const Decision decision = decided(Cause::checkpointed, {.failures = {{Kind::checkpointed, 500}}});
  CHECK(decision.action == Action::restart);
  CHECK(decision.delay.count() == 0);
}

TEST_CASE("--time-total ends a run that could go on") {
  Policy policy = default_policy();
  policy.time_total = std::chrono::hours(3);
  const Outcome outcome{Cause::preempted, 85, "detail"};
  const auto after_hours = [](int hours) {
    return Circumstances{.in_scheduler = true, .elapsed = std::chrono::hours(hours)};
  };
  CHECK(decide(outcome, after_hours(2), policy).action == Action::requeue);
  const Decision decision = decide(outcome, after_hours(3), policy);
  CHECK(decision.action == Action::stop);
  CHECK(decision.exit_code == 85);
  CHECK(decision.why.find("--time-total") != std::string::npos);
}

TEST_CASE("--on changes what is done, and how often") {
  struct Case {
    const char* on;
    Cause cause;
    unsigned failures;
    Action action;
  };

  for (const Case& one : {
           Case{"preempted=stop", Cause::preempted, 1, Action::stop},
           Case{"preempted=requeue:2", Cause::preempted, 2, Action::requeue},
           Case{"preempted=requeue:2", Cause::preempted, 3, Action::stop},
           Case{"timeout=resubmit", Cause::time_limit, 1, Action::resubmit},
           Case{"time_limit=resubmit", Cause::time_limit, 1, Action::resubmit},
           Case{"crash=restart:5", Cause::rank_killed, 5, Action::restart},
           Case{"crash=restart:5", Cause::rank_killed, 6, Action::stop},
           Case{"crash=restart", Cause::rank_killed, 4, Action::stop},
           Case{"crash=restart:unlimited", Cause::rank_killed, 400, Action::restart},
           Case{"crash=requeue", Cause::launcher_died, 3, Action::requeue},
           Case{"crash=stop,hang=restart:1", Cause::hang, 1, Action::restart},
           Case{"crash=stop,hang=restart:1", Cause::rank_killed, 1, Action::stop},
           Case{"exit=restart:2", Cause::user_exit, 2, Action::restart},
           Case{" user_exit = requeue:1 , crash=stop", Cause::user_exit, 1, Action::requeue},
           Case{"checkpointed=requeue", Cause::checkpointed, 1, Action::requeue},
           Case{"launch=restart:0", Cause::launch_failed, 1, Action::stop},
       }) {
    CAPTURE(one.on);
    CHECK(decided(one.cause, after(kind_of(one.cause), one.failures, true), one.on).action ==
          one.action);
  }
}

TEST_CASE("every mistake in --on is named at once") {
  const auto policy =
      parse_policy("preemted=requeue,crash=again,hang,launch=restart:x,fenced=stop,");
  REQUIRE_FALSE(policy);
  std::string all;
  for (const dts::Diagnostic& problem : policy.error()) all += dts::to_text(problem) + "\n";
  CAPTURE(all);
  CHECK(policy.error().size() == 6);
  for (const char* words : {"did you mean `preempted`",
                            "`again` is not an action",
                            "`hang` is no",
                            "`x` is not a number",
                            "`fenced` is not a cause",
                            "--on"})
    CHECK(all.find(words) != std::string::npos);
}

TEST_CASE("every cause has a name of its own that is read back") {
  for (const Cause cause : all_causes()) {
    const auto back = cause_from(to_string(cause));
    REQUIRE(back);
    CHECK(*back == cause);
  }
  CHECK_FALSE(cause_from("unknown"));
  CHECK_FALSE(cause_from(""));
}

TEST_CASE("a node that failed is replaced by a spare of the job, without the queue") {
  const struct {
    Cause cause;
    const char* node;
    const char* on;
    bool has_spares;
    Action action;
  } table[] = {
      {Cause::launch_failed, "n1", "", true, Action::restart},
      {Cause::launch_failed, "n1", "", false, Action::requeue},
      {Cause::launch_failed, "", "", true, Action::restart},
      {Cause::gpu_error, "n1", "", true, Action::restart},
      {Cause::gpu_error, "n1", "", false, Action::requeue},
      {Cause::gpu_error, "", "", true, Action::requeue},
      {Cause::node_failed, "n1", "", true, Action::restart},
      {Cause::node_failed, "n1", "", false, Action::requeue},
      {Cause::node_failed, "", "", true, Action::requeue},
      {Cause::preempted, "n1", "", true, Action::requeue},
      {Cause::node_failed, "n1", "node_failed=resubmit", true, Action::resubmit},
      {Cause::node_failed, "n1", "node_failed=stop", true, Action::stop},
  };

  for (const auto& row : table) {
    CAPTURE(to_string(row.cause));
    CAPTURE(row.node);
    Circumstances now = k_in_slurm;
    now.has_spares = row.has_spares;
    const Decision decision = decided(row.cause, now, row.on, row.node);
    CHECK(decision.action == row.action);
    if (row.has_spares && row.action == Action::restart && row.node[0] != '\0') {
      CHECK(decision.why.find("on its spare nodes in place of n1") != std::string::npos);
      CHECK(decision.exclude.empty());
    }
  }
  Circumstances requeued = k_requeued_already;
  requeued.has_spares = true;
  CHECK(decided(Cause::node_failed, requeued, "", "n1").action == Action::wait);
}

TEST_CASE("every unfit node is excluded") {
  Outcome outcome{Cause::launch_failed, 1, "", std::nullopt, "n1"};
  outcome.unfit = {{"n1", "a"}, {"n3", "b"}};
  const Decision decision = decide(outcome, k_in_slurm, default_policy());
  CHECK(decision.action == Action::requeue);
  CHECK(decision.exclude == "n1,n3");
}

TEST_CASE("an agent that cannot continue for want of space says so; anything else is damage") {
  const auto cause_after = [](int number) {
    errno = number;
    const auto failed = dts::fail_errno("cannot write epoch");
    const auto events = events_of_failure({}, failed.value(), 0, 0, false);
    REQUIRE(events.size() == 2);
    return events.front().as<AttemptEnded>()->cause.value();
  };
  CHECK(cause_after(ENOSPC) == Cause::disk_full);
  CHECK(cause_after(EDQUOT) == Cause::disk_full);
  CHECK(cause_after(EACCES) == Cause::run_damaged);
}

TEST_CASE("an agent that cannot begin ends the run, and announces no attempt that nobody makes") {
  const dts::Error failed{dts::Errc::invalid, "the job has 2 nodes (n0,n1), 1 were planned", ""};
  const auto events = events_of_failure({}, failed, 0, 0, false, Cause::launch_failed);
  REQUIRE(events.size() == 2);
  CHECK(events.front().as<AttemptEnded>()->cause.value() == Cause::launch_failed);
  CHECK(events.back().as<Decided>()->decision == Action::stop);
  CHECK(events.back().as<Decided>()->exit_code == 3);
  CHECK(events.back().as<Decided>()->detail.find("2 nodes") != std::string::npos);
  REQUIRE(final_decision(events) != nullptr);
}

TEST_CASE("an agent that fails after its attempt's end says why in its decision") {
  const std::vector<Event> before{{.attempt = 1, .what = AttemptEnded{.cause = Cause::time_limit}}};
  const dts::Error failed{dts::Errc::not_found, "cannot read provenance.json\n    | {", ""};
  for (const bool in_scheduler : {false, true}) {
    const auto events = events_of_failure(before, failed, 1, 1, in_scheduler);
    REQUIRE(events.size() == 1);
    const std::string& why = events.front().as<Decided>()->detail;
    CHECK(why.starts_with("cannot read provenance.json: it cannot"));
    CHECK(
        why.ends_with(in_scheduler ? "then `dtsubmit requeue`" : "then `dtsubmit run --continue`"));
  }
}

TEST_CASE("a container runtime that failed is no missing program") {
  const Outcome missing{Cause::no_program, 127, "rank 0: no program `x`"};
  Outcome runtimes = missing;
  runtimes.detail = std::string("rank 0 exited 125: ") + k_runtime_failed + ": Error: x";
  CHECK(decide(missing, {}, default_policy()).why.find("correct the command") != std::string::npos);
  CHECK(decide(runtimes, {}, default_policy()).why.find("see its message") != std::string::npos);
}
