// SPDX-License-Identifier: Apache-2.0
// The cause that a scheduler's record shows; the rows are those measured on Slurm 22.05.
#include "core/launch/job/classify.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace dts;
using run::Cause;
using sched::JobState;

struct Record {
  const char* what;
  JobState state;
  bool completing;
  std::uint32_t restarts;
  std::int64_t preempt_time;
  Cause cause;  // of a stop that was seen only as a signal
  bool has_down_node = false;
  bool reason_is_lost = false;
};

const std::vector<Record> k_records{
    {"scancel", JobState::cancelled, true, 0, 0, Cause::cancelled},
    {"time limit", JobState::timed_out, true, 0, 0, Cause::time_limit},
    {"requeue by hand", JobState::pending, true, 1, 0, Cause::requeued},
    {"node failure", JobState::pending, false, 1, 0, Cause::node_failed, true},
    {"preempted while a node was down",
     JobState::pending,
     true,
     1,
     1'767'323'045,
     Cause::preempted,
     true},
    {"a node is down, but the job runs", JobState::running, false, 0, 0, Cause::signalled, true},
    {"out of memory", JobState::out_of_memory, true, 0, 0, Cause::out_of_memory},
    {"node failure of a job that may not be requeued",
     JobState::node_failed,
     false,
     0,
     0,
     Cause::node_failed},
    {"preempted", JobState::pending, true, 1, 1'767'323'045, Cause::preempted},
    {"grace began", JobState::running, false, 0, 1'767'323'045, Cause::preempted},
    {"cancelled by the gang scheduler", JobState::preempted, true, 0, 0, Cause::preempted},
    {"cancelled during grace", JobState::cancelled, true, 0, 1'767'323'045, Cause::cancelled},
    {"nothing happened to the job", JobState::running, false, 0, 0, Cause::signalled},
    {"requeued once before, now running", JobState::running, false, 1, 0, Cause::signalled},
    {"cancelled, and the controller was started again",
     JobState::cancelled,
     true,
     0,
     0,
     Cause::cancelled,
     false,
     true},
    {"a state of a later version", JobState::unknown, false, 0, 0, Cause::signalled},
};

sched::JobInfo info_of(const Record& record) {
  sched::JobInfo job;
  job.state = record.state;
  job.completing = record.completing;
  job.restart_count = record.restarts;
  job.preempt_time = record.preempt_time;
  return job;
}

launch::Surroundings around(const Record& record) {
  return {record.has_down_node, record.reason_is_lost};
}

}  // namespace

TEST_CASE("a stop seen from inside gets the cause that the scheduler's record shows") {
  for (const Record& record : k_records) {
    CAPTURE(record.what);
    CHECK(launch::classify(Cause::signalled, info_of(record), around(record)) == record.cause);
  }
}

TEST_CASE("a rank or launcher that died because the job was taken away is not a crash") {
  for (const Cause observed : {Cause::rank_killed,
                               Cause::launcher_died,
                               Cause::launch_failed,
                               Cause::user_exit,
                               Cause::checkpointed})
    for (const Record& record : k_records) {
      CAPTURE(record.what);
      const Cause expected = record.cause == Cause::signalled ? observed : record.cause;
      CHECK(launch::classify(observed, info_of(record), around(record)) == expected);
    }
}

TEST_CASE("the program's own report of its end stands, whatever the record says") {
  for (const Cause said : {Cause::completed,
                           Cause::no_restart,
                           Cause::fenced,
                           Cause::run_vanished,
                           Cause::wrong_ranks,
                           Cause::second_launcher,
                           Cause::wrong_binding})
    for (const Record& record : k_records)
      CHECK(launch::classify(said, info_of(record), around(record)) == said);
}

TEST_CASE("a stop whose reason the controller lost counts as a preemption, a crash does not") {
  sched::JobInfo job;
  job.state = JobState::running;
  CHECK(launch::classify(Cause::signalled, job, {false, true}) == Cause::preempted);
  for (const Cause observed :
       {Cause::stopped, Cause::rank_killed, Cause::time_limit, Cause::user_exit})
    CHECK(launch::classify(observed, job, {false, true}) == observed);
}

TEST_CASE("a requeue that is nobody's is said to be that") {
  sched::JobInfo job;
  job.state = JobState::pending;
  const auto words = [&](const std::vector<std::string>& down) {
    return launch::explain_by_job({Cause::signalled, 85, "signal 15"}, job, {{"n0"}, down, {}})
        .detail;
  };
  CHECK(words({}).starts_with("signal 15; requeued by a user, by the program itself, by gang"));
  CHECK(words({"n0"}) == "signal 15; down: n0");
  job.description = "launch failed requeued held";
  CHECK(words({}) == "signal 15; the scheduler says: launch failed requeued held");
}

TEST_CASE("only a pending job has been requeued") {
  for (const Record& record : k_records) {
    CAPTURE(record.what);
    CHECK(launch::is_requeued(info_of(record)) == (record.state == JobState::pending));
  }
}

TEST_CASE("a crash of a job with spares is blamed on a lost node if the job used it") {
  const struct {
    Cause observed, cause;
    std::vector<std::string> down, used;
    const char* node;
    const char* words;
  } table[] = {
      {Cause::launcher_died, Cause::node_failed, {"n1"}, {"n0", "n1"}, "n1", "x; down: n1"},
      {Cause::rank_killed, Cause::node_failed, {"n9", "n0"}, {"n0", "n1"}, "n0", "x; down: n0"},
      {Cause::launch_failed, Cause::node_failed, {"n1"}, {"n0", "n1"}, "n1", "x; down: n1"},
      {Cause::rank_killed, Cause::rank_killed, {"n2"}, {"n0", "n1"}, "", "x"},  // a spare
      {Cause::rank_killed, Cause::rank_killed, {"n1"}, {}, "", "x"},            // no spares
      {Cause::rank_killed, Cause::rank_killed, {}, {"n0", "n1"}, "", "x"},
      {Cause::user_exit, Cause::user_exit, {"n1"}, {"n0", "n1"}, "", "x"},
      {Cause::completed, Cause::completed, {"n1"}, {"n0", "n1"}, "", "x"},
  };

  sched::JobInfo job;
  job.state = JobState::running;
  for (const auto& row : table) {
    CAPTURE(run::to_string(row.observed));
    const run::Outcome outcome = launch::explain_by_job(
        {row.observed, 1, "x", std::nullopt}, job, {{"n0", "n1", "n2"}, row.down, row.used});
    CHECK(outcome.cause == row.cause);
    CHECK(outcome.node == row.node);
    CHECK(outcome.detail == row.words);
  }
}

TEST_CASE("nodes that the record no longer has were taken out of the running job") {
  const std::vector<std::string> all{"n0", "n1", "n2"};

  const struct {
    JobState state;
    const char* nodes;
    std::vector<std::string> taken;
  } table[] = {{JobState::running, "n[0-2]", {}},
               {JobState::running, "n0,n2", {"n1"}},
               {JobState::running, "n0", {"n1", "n2"}},
               {JobState::running, "m[0-1]", {}},  // of another component
               {JobState::running, "", {}},
               {JobState::pending, "n0", {}}};

  for (const auto& row : table) {
    CAPTURE(row.nodes);
    sched::JobInfo job;
    job.state = row.state;
    job.nodes = row.nodes;
    CHECK(launch::taken_nodes(job, all) == row.taken);
  }
}

TEST_CASE("an end that the loss of a node explains is blamed on the nodes taken out of the job") {
  sched::JobInfo job;
  job.state = JobState::running;
  launch::JobNodes nodes{{"n0", "n1"}, {}, {}};
  nodes.taken = {"n1"};
  for (const Cause cause :
       {Cause::rank_killed, Cause::launch_failed, Cause::signalled, Cause::user_exit}) {
    const auto outcome = launch::explain_by_job({cause, 1, "x", std::nullopt}, job, nodes);
    CHECK(outcome.cause == Cause::node_failed);
    CHECK(outcome.node == "n1");
    CHECK(outcome.detail == "x; taken out of the job: n1");
  }
  for (const Cause cause : {Cause::completed, Cause::checkpointed, Cause::no_program})
    CHECK(launch::explain_by_job({cause, 1, "x", std::nullopt}, job, nodes).cause == cause);
}
