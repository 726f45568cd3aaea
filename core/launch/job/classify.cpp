// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/classify.hpp"

#include "core/base/text/hostlist.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace dts::launch {

//  cause            state       completing  restart_count  preempt_time
//  scancel          CANCELLED   yes         +0             0
//  time limit       TIMEOUT     yes         +0             0
//  requeue by hand  PENDING     yes         +1             0
//  node failure     PENDING     yes or no   +1             0             (and a node is down)
//  preempted        PENDING     yes         +1             set
//  grace began      RUNNING     no          +0             set
//  gang, CANCEL     PREEMPTED   yes         +0             0
//  gang, REQUEUE    PENDING     yes         +1             0             (as a requeue by hand)
run::Cause classify(run::Cause observed, const sched::JobInfo& job, const Surroundings& around) {
  switch (observed) {
    // The program's own report of its end takes precedence over the scheduler's actions.
    case run::Cause::completed:
    case run::Cause::no_restart:
    case run::Cause::fenced:
    case run::Cause::run_vanished:
    case run::Cause::wrong_ranks:
    case run::Cause::second_launcher:
    case run::Cause::wrong_binding:
      return observed;
    default:
      break;
  }
  if (job.state == sched::JobState::cancelled) return run::Cause::cancelled;
  if (job.preempt_time != 0 || job.state == sched::JobState::preempted)
    return run::Cause::preempted;
  if (job.state == sched::JobState::timed_out) return run::Cause::time_limit;
  if (job.state == sched::JobState::out_of_memory) return run::Cause::out_of_memory;
  if (job.state == sched::JobState::node_failed) return run::Cause::node_failed;
  if (is_requeued(job))
    return around.has_down_node ? run::Cause::node_failed : run::Cause::requeued;
  if (observed == run::Cause::signalled && around.reason_is_lost) return run::Cause::preempted;
  return observed;
}

std::vector<std::string> taken_nodes(const sched::JobInfo& job,
                                     const std::vector<std::string>& nodes) {
  const auto left = expand_hostlist(job.nodes);
  if (job.state != sched::JobState::running || !left) return {};
  std::vector<std::string> taken;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(taken), [&](const std::string& node) {
    return std::find(left->begin(), left->end(), node) == left->end();
  });
  if (taken.size() == nodes.size()) taken.clear();
  return taken;
}

namespace {

// True for an end that the loss of a node explains.
bool may_be_lost_node(run::Cause cause) {
  const run::Kind kind = run::kind_of(cause);
  return kind == run::Kind::crash || kind == run::Kind::launch || kind == run::Kind::signalled ||
         cause == run::Cause::user_exit;
}

// A record does not say who or what requeued the job.
std::string unknown_requeue_words(const sched::JobInfo& job) {
  if (!job.description.empty()) return "; the scheduler says: " + job.description;
  return "; requeued by a user, by the program itself, by gang scheduling, or for a node that was "
         "down for a moment";
}

}  // namespace

run::Outcome explain_by_job(run::Outcome outcome,
                            const sched::JobInfo& job,
                            const JobNodes& nodes) {
  const auto is_down = [&](const std::string& node) {
    return std::find(nodes.down.begin(), nodes.down.end(), node) != nodes.down.end();
  };
  std::vector<std::string> lost;
  std::copy_if(nodes.all.begin(), nodes.all.end(), std::back_inserter(lost), is_down);
  outcome.cause = classify(outcome.cause, job, {!lost.empty(), nodes.reason_is_lost});
  if (outcome.cause == run::Cause::preempted && job.preempt_time == 0 &&
      job.state != sched::JobState::preempted)
    outcome.detail +=
        "; the controller was restarted meanwhile and does not know why: assumed to be a "
        "preemption";
  if (outcome.cause == run::Cause::requeued) outcome.detail += unknown_requeue_words(job);
  const run::Kind kind = run::kind_of(outcome.cause);
  const auto gone = std::find_if(nodes.used.begin(), nodes.used.end(), is_down);
  if (gone != nodes.used.end() && (kind == run::Kind::crash || kind == run::Kind::launch)) {
    outcome.cause = run::Cause::node_failed;
    outcome.node = *gone;
  }
  if (outcome.cause == run::Cause::node_failed && !lost.empty())
    outcome.detail += fmt::format("; down: {}", fmt::join(lost, ","));
  if (!nodes.taken.empty() && may_be_lost_node(outcome.cause)) {
    outcome.cause = run::Cause::node_failed;
    outcome.node = nodes.taken.front();
    outcome.detail += fmt::format("; taken out of the job: {}", fmt::join(nodes.taken, ","));
  }
  return outcome;
}

bool is_requeued(const sched::JobInfo& job) {
  return job.state == sched::JobState::pending;
}

}  // namespace dts::launch
