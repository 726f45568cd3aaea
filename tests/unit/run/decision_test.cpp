// SPDX-License-Identifier: Apache-2.0
// What happens after an attempt, for every cause in every circumstance that matters.
#include "core/run/decision.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace dts::run;

const std::vector<Cause> k_all{Cause::completed,
                               Cause::preempted,
                               Cause::time_limit,
                               Cause::cancelled,
                               Cause::requeued,
                               Cause::stopped,
                               Cause::checkpointed,
                               Cause::no_restart,
                               Cause::rank_killed,
                               Cause::user_exit,
                               Cause::launcher_died,
                               Cause::launch_failed,
                               Cause::wrong_ranks,
                               Cause::fenced,
                               Cause::agent_lost};

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
    {Cause::stopped, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::checkpointed, Action::restart, Action::restart, Action::restart, Action::restart},
    {Cause::no_restart, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::rank_killed, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::user_exit, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::launcher_died, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::launch_failed, Action::restart, Action::restart, Action::wait, Action::restart},
    {Cause::wrong_ranks, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::fenced, Action::stop, Action::stop, Action::stop, Action::stop},
    {Cause::agent_lost, Action::requeue, Action::stop, Action::wait, Action::stop},
};

void check_action(Cause cause, const char* where, Circumstances now, Action expected) {
  CAPTURE(to_string(cause));
  CAPTURE(where);
  now.crashes = cause == Cause::rank_killed || cause == Cause::launcher_died ? 1 : 0;
  now.without_progress = now.crashes;
  now.launch_failures = cause == Cause::launch_failed ? 1 : 0;
  const Decision decision = decide({cause, 42, "detail"}, now);
  CHECK(std::string(to_string(decision.action)) == to_string(expected));
  CHECK_FALSE(decision.why.empty());
  if (decision.action == Action::stop)
    CHECK(decision.exit_code == 42);
  else
    CHECK(decision.exit_code == 0);
}

}  // namespace

TEST_CASE("every cause leads to the action of the table") {
  REQUIRE(k_table.size() == k_all.size());
  for (const Row& row : k_table) {
    check_action(row.cause, "in Slurm", k_in_slurm, row.in_slurm);
    check_action(row.cause, "with --no-requeue", k_in_slurm_no_requeue, row.no_requeue);
    check_action(row.cause, "requeued already", k_requeued_already, row.requeued_already);
    check_action(row.cause, "without a scheduler", k_here, row.here);
  }
}

TEST_CASE("three crashes are forgiven, the fourth is not") {
  for (const Cause cause : {Cause::rank_killed, Cause::launcher_died})
    for (unsigned crashes = 1; crashes <= 5; ++crashes) {
      const Decision decision = decide({cause, 137, ""}, {.crashes = crashes});
      CHECK((decision.action == Action::restart) == (crashes <= 3));
      if (crashes > 3) CHECK(decision.exit_code == 137);
    }
}

TEST_CASE("two crashes in a row that saved nothing end the run, and it says so") {
  const Decision once =
      decide({Cause::rank_killed, 137, ""}, {.crashes = 1, .without_progress = 1});
  CHECK(once.action == Action::restart);
  const Decision twice =
      decide({Cause::rank_killed, 137, ""}, {.crashes = 2, .without_progress = 2});
  CHECK(twice.action == Action::stop);
  CHECK(twice.why.find("2 crashes in a row without a new checkpoint") != std::string::npos);
}

TEST_CASE("a crash budget that is spent does not stop a job that Slurm has requeued already") {
  const Decision decision =
      decide({Cause::rank_killed, 137, ""},
             {.in_scheduler = true, .already_requeued = true, .crashes = 9, .without_progress = 9});
  CHECK(decision.action == Action::wait);
}

TEST_CASE("two launch failures are forgiven, the third is not") {
  for (unsigned failures = 1; failures <= 4; ++failures) {
    const Decision decision = decide({Cause::launch_failed, 1, ""}, {.launch_failures = failures});
    CHECK((decision.action == Action::restart) == (failures <= 2));
  }
}

TEST_CASE("every cause has a name of its own that is read back") {
  for (const Cause cause : k_all) {
    const auto back = cause_from(to_string(cause));
    REQUIRE(back);
    CHECK(*back == cause);
  }
  CHECK_FALSE(cause_from("unknown"));
  CHECK_FALSE(cause_from(""));
}
