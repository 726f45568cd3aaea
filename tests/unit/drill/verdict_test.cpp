// SPDX-License-Identifier: Apache-2.0
// Whether what a drill has shown is what the policy promises.
#include "core/drill/verdict.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using drill::Fault;
using Problems = std::vector<std::string>;

struct Row {
  const char* what;
  Fault fault;
  const char* cause;
  const char* decision;
  bool ended;
  bool back;
  int left;
  Problems problems;
  const char* on = "";
};

drill::Shown shown_of(const Row& row) {
  drill::Shown shown;
  shown.fault = row.fault;
  shown.attempt.number = 1;
  shown.attempt.cause = run::Recorded<run::Cause>::named(row.cause);
  shown.attempt.decision = run::Recorded<run::Action>::named(row.decision);
  shown.ended = row.ended;
  if (row.back) shown.seconds = 3.5;
  shown.left = row.left;
  return shown;
}

}  // namespace

TEST_CASE("a drill is judged by cause, by decision, and by whether steps were done again") {
  for (const Row& row : std::vector<Row>{
           {"restarted", Fault::rank_kill, "rank_killed", "restart", false, true, 0, {}},
           {"put back", Fault::preempt, "preempted", "requeue", false, true, 0, {}},
           {"put back by Slurm", Fault::preempt, "requeued", "wait", false, true, 0, {}},
           {"a successor", Fault::timeout, "time_limit", "resubmit", false, true, 0, {}},
           {"nobody to decide", Fault::agent_kill, "agent_lost", "", false, true, 0, {}},
           {"stopped, mended, continued",
            Fault::disk_full,
            "disk_full",
            "stop",
            false,
            true,
            0,
            {}},
           {"slow only", Fault::slow, "", "", false, true, 0, {}},
           {"slow to the end", Fault::slow, "completed", "done", false, true, 0, {}},
           {"slow, and killed for it",
            Fault::slow,
            "hang",
            "restart",
            false,
            true,
            0,
            {"the attempt ended (hang) for no reason"}},
           {"another cause",
            Fault::rank_kill,
            "user_exit",
            "stop",
            false,
            true,
            0,
            {"the cause in the ledger is user_exit, not rank_killed"}},
           {"no cause",
            Fault::hang,
            "",
            "",
            false,
            false,
            0,
            {"the cause in the ledger is missing, not hang", "it has not come back to a step"}},
           {"another decision",
            Fault::timeout,
            "time_limit",
            "restart",
            false,
            true,
            0,
            {"the decision is restart, not requeue"}},
           {"a policy that stops",
            Fault::rank_kill,
            "rank_killed",
            "stop",
            true,
            false,
            0,
            {},
            "crash=stop"},
           {"no budget left",
            Fault::rank_kill,
            "rank_killed",
            "stop",
            true,
            false,
            0,
            {"the decision is stop, not restart", "it has not come back to a step"}},
           {"decided, but never back",
            Fault::node_loss,
            "node_failed",
            "requeue",
            false,
            false,
            0,
            {"it has not come back to a step"}},
           {"one thing is left",
            Fault::rank_kill,
            "rank_killed",
            "restart",
            false,
            true,
            1,
            {"left of attempt 1: 1 process"}},
           {"something is left",
            Fault::rank_kill,
            "rank_killed",
            "restart",
            false,
            true,
            2,
            {"left of attempt 1: 2 processes"}}}) {
    CAPTURE(row.what);
    const run::Policy policy = run::parse_policy(row.on).value();
    CHECK(drill::faults_found(shown_of(row), policy, std::nullopt) == row.problems);
  }
}

TEST_CASE("on a ground of our own steps and digest count, too") {
  struct Strict {
    const char* what;
    Fault fault;
    std::int64_t lost;
    const char* digest;
    std::size_t problems;
  };

  for (const Strict& row :
       std::vector<Strict>{{"all is well", Fault::rank_kill, 10, "a", 0},
                           {"more than an interval", Fault::rank_kill, 11, "a", 1},
                           {"warned, and saved", Fault::preempt, 0, "a", 0},
                           {"warned in vain", Fault::preempt, 1, "a", 1},
                           {"another result", Fault::rank_kill, 5, "b", 1},
                           {"no result", Fault::rank_kill, 5, "", 1},
                           {"unknown steps", Fault::rank_kill, -1, "a", 1}}) {
    CAPTURE(row.what);
    const bool warned = row.fault == Fault::preempt;
    drill::Shown shown = shown_of({"",
                                   row.fault,
                                   warned ? "preempted" : "rank_killed",
                                   warned ? "requeue" : "restart",
                                   false,
                                   true,
                                   0,
                                   {}});
    shown.attempt.steps_lost = row.lost;
    const auto problems =
        drill::faults_found(shown, run::default_policy(), drill::Strictness{10, row.digest, "a"});
    CHECK(problems.size() == row.problems);
  }
}

TEST_CASE("every fault has a name of its own, and every name its fault") {
  for (const drill::FaultFacts& facts : drill::all_faults()) {
    CHECK(drill::fault_from(facts.name) == facts.fault);
    CHECK(drill::facts_of(facts.fault).name == facts.name);
  }
  CHECK_FALSE(drill::fault_from("all").has_value());
  CHECK_FALSE(drill::fault_from("").has_value());
  CHECK(drill::all_faults().size() == 8);
}
