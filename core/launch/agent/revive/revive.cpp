// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/revive/revive.hpp"

#include "core/base/os/log.hpp"
#include "core/launch/guard/guard_rules.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/directory/lease.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/events.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;

// Slurm mostly knows of a batch process's death within a second, on busy nodes within a few. If
// only the agent was killed, and the guard lives, the next agent waits for this as well.
constexpr std::chrono::seconds k_wait{15};
constexpr std::chrono::milliseconds k_query{500};
// While there is no controller, nobody ends the job's steps. One that is back learns of the death
// from the node, which repeats its message.
constexpr std::chrono::minutes k_absence{15};
constexpr std::chrono::seconds k_wait_for_news{60};
constexpr std::chrono::seconds k_patience{5};  // for a lost reply; KillWait may be 5 s, too

constexpr const char* k_killed = "its batch process was killed";

// True if the run, or the part of one, needs no more agents: it has ended, or a user has asked this
// attempt to stop.
bool is_to_end(const run::RunDirectory& run, unsigned attempt) {
  const auto events = run::read_ledger(run.ledger());
  return !events || run::final_decision(*events) != nullptr ||
         run::is_asked_to_stop(*events, attempt);
}

// True if a part of the run has failed for good, which ends the others.
bool has_failed_part(const run::RunDirectory& whole) {
  const auto parts = run::parts_of(whole);
  const auto spec = read_spec(whole);
  return std::any_of(parts.begin(), parts.end(), [&](const run::PartDirectory& part) {
    const auto spares_others = [&](const spec::Part& role) {
      return role.name == part.name && role.on_failure == spec::OnFailure::none;
    };
    if (spec && std::any_of(spec->roles.begin(), spec->roles.end(), spares_others)) return false;
    const auto events = run::read_ledger(part.run.ledger());
    const run::Event* last = events ? run::final_decision(*events) : nullptr;
    const auto* decided = last != nullptr ? last->as<run::Decided>() : nullptr;
    return decided != nullptr && decided->decision == run::Action::stop &&
           !decided->detail.starts_with(run::k_asked_by_part);
  });
}

// The event that began the run's attempt, if it has no end.
std::optional<run::Event> open_attempt(const std::vector<run::Event>& events) {
  const auto number = run::unfinished_attempt(events);
  if (!number) return std::nullopt;
  const auto began = std::find_if(events.rbegin(), events.rend(), [&](const run::Event& event) {
    return event.is<run::AttemptStarted>() && event.attempt == *number;
  });
  return began == events.rend() ? std::nullopt : std::optional(*began);
}

// True if the guard gives up when this attempt's agent dies, which looks as if it was killed.
bool is_last_agent(const run::RunDirectory& run,
                   const std::vector<run::Event>& events,
                   unsigned attempt) {
  const auto own = run::read_lease(run, attempt);
  unsigned kills = 1;
  if (!own) return false;
  for (const run::Event& event : events) {
    const auto* ended = event.as<run::AttemptEnded>();
    if (ended == nullptr || ended->cause != run::Cause::agent_lost) continue;
    const auto lease = run::read_lease(run, event.attempt);
    if (lease && lease->job == own->job && lease->restart_count == own->restart_count) ++kills;
  }
  return kills >= k_most_kills;
}

// True if the loss of the attempt's agent lets the run continue: --on, its budgets and --no-requeue
// are the user's, and what kills one guard after another would do so for ever.
Result<bool> may_return(const run::RunDirectory& run,
                        std::vector<run::Event> events,
                        unsigned attempt) {
  DTS_ASSIGN(const auto spec, read_spec(run));
  DTS_ASSIGN(const auto policy, read_policy(spec));
  const run::Outcome lost{run::Cause::agent_lost, 1, k_killed};
  events.push_back({.attempt = attempt, .what = run::ended_event(lost)});
  if (run::agents_lost_in_a_row(events) >= k_most_kills) return false;
  run::Circumstances now = run::count_failures(events);
  now.in_scheduler = true;
  now.may_requeue = spec.requeue;
  return run::decide(lost, now, policy).action == run::Action::requeue;
}

// An agent that ended by itself has exited with a code.
bool is_killed(const sched::JobInfo& job) {
  return job.state == sched::JobState::out_of_memory ||
         (job.state == sched::JobState::failed && job.exit_signal != 0);
}

// The record of a job that ends within k_wait; nullopt if it goes on. A controller that does not
// answer, because it is busy or away, is asked again.
Result<std::optional<sched::JobInfo>> ended_job(sched::Scheduler& scheduler,
                                                const run::RunDirectory& run,
                                                const sched::JobId& id) {
  const auto given_up = Clock::now() + k_absence;
  auto until = Clock::now() + k_wait;
  while (true) {
    auto job = job_of_run(scheduler, run, id);
    const auto now = Clock::now();  // a query without an answer takes its time
    const bool is_away = !job && job.error().code == Errc::unreachable;
    if (is_away && now < given_up) until = now + k_wait_for_news;
    if (job && sched::is_terminal(job->state)) return std::optional(*std::move(job));
    if (job && job->state != sched::JobState::running) return std::nullopt;
    if (now >= until)
      return job ? Result<std::optional<sched::JobInfo>>() : tl::unexpected(job.error());
    std::this_thread::sleep_for(k_query);
  }
}

}  // namespace

Result<int> revive_job(const std::string& run_directory, unsigned attempt) {
  const run::RunDirectory part{run_directory};
  const run::RunDirectory run = run::whole_of(part);
  const auto events = run::read_ledger(run.ledger());
  const auto whole = events ? open_attempt(*events) : std::nullopt;
  if (!whole || whole->job.empty() || is_to_end(part, attempt) || has_failed_part(run)) return 0;
  // The agent of a part may have noticed the death of that of the whole, and have ended its
  // attempt.
  if (part.path == run.path && whole->attempt != attempt) return 0;
  DTS_ASSIGN(const bool may, may_return(run, *events, whole->attempt));
  if (!may || is_last_agent(run, *events, whole->attempt)) return 0;
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  DTS_ASSIGN(const auto job, ended_job(*scheduler, run, whole->job));
  if (!job || !is_killed(*job)) return 0;
  const auto newer = run::read_ledger(run.ledger());
  if (!newer || run::unfinished_attempt(*newer) != whole->attempt) return 0;
  if (is_to_end(part, attempt) || has_failed_part(run)) return 0;  // since the first look
  DTS_TRY(sched::requeue_once(*scheduler, whole->job, {.limit = k_patience}));
  DTS_TRY(run::append_event(run.ledger(), {.job = whole->job, .what = run::Requeued{k_killed}}));
  return 0;
}

}  // namespace dts::launch
