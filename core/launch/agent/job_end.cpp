// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/job_end.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/text/counted.hpp"
#include "core/launch/agent/recorded_attempt.hpp"
#include "core/launch/agent/settings_of_job.hpp"
#include "core/launch/health/quarantine.hpp"
#include "core/launch/job/classify.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/index/find.hpp"
#include "core/run/index/index.hpp"
#include "core/run/ledger/events.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/summary/goodput.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <map>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_end_by_scheduler{90};

// How the run used its time, for the last event in its ledger.
std::map<std::string, double> time_use(const run::RunDirectory& run,
                                       const std::vector<run::Event>& events) {
  const run::RunSummary summary = run::summarise(events, run::read_metrics(run));
  return run::in_seconds(run::account(events, summary, std::chrono::system_clock::now()).run);
}

}  // namespace

std::unique_ptr<JobWatch> watch_job(const Allocation& allocation, bool query_nodes) {
  // Loads the plug-in in a child process first: libslurm exits if it rejects the configuration.
  return std::make_unique<JobWatch>(
      [] { return plugin::load_scheduler(plugin::scheduler_name(), true); },
      allocation.job,
      query_nodes);
}

void JobEnd::use(JobWatch* watch, bool is_whole) {
  watch_ = watch;
  is_whole_ = is_whole;
  if (watch != nullptr) chain_.begin();
}

bool JobEnd::explain(run::Outcome& outcome) {
  const auto job = watch_ != nullptr ? watch_->wait_job(k_record_patience) : std::nullopt;
  if (!job) return false;
  outcome = explain_by_job(std::move(outcome),
                           *job,
                           {job_.allocation.nodes,
                            watch_->take_down_nodes().value_or(std::vector<std::string>()),
                            {},
                            false});
  return is_requeued(*job);
}

void JobEnd::wait_for_the_end() {
  kill_imminent_ =
      kill_imminent_ || wait_for_one_of(signals_, {SIGTERM}, k_end_by_scheduler).has_value();
}

// Hands over to the job of the chain that waits for this job's end; nullopt if there is none.
Result<std::optional<int>> JobEnd::hand_over(const run::Outcome& outcome) {
  if (!chain_.is_for_next(outcome)) return std::nullopt;
  const auto chain = chain_.chain();
  if (chain && chain_.is_used_up(*chain))
    return stop_after_error(
        outcome,
        fmt::format("the chain has used its {}; `dtsubmit requeue` continues the run",
                    counted(chain->jobs, "job")));
  if (!chain || chain->waiting.empty()) return std::nullopt;
  DTS_TRY(note_({.job = chain->waiting, .what = run::Resubmitted{"the chain's next job"}}));
  note_successor(chain->waiting);
  return 0;
}

Result<int> JobEnd::return_job(const run::Outcome& outcome, const run::Decision& decision) {
  DTS_ASSIGN(const std::optional<int> handed, hand_over(outcome));
  if (handed) return *handed;
  JobWatch::Return how;
  how.requeue = decision.action == run::Action::requeue;
  how.exclude = decision.exclude;
  how.nodes = job_.plan.nodes + job_.plan.spares;
  for (const spec::Part& role : job_.spec.roles)
    if (job_.spec.heterogeneous) how.partitions.insert(role.job.partition);
  how.avoid = nodes_in_quarantine();  // other runs may have added nodes in the meantime
  auto successor = make_successor(job_.run);
  if (successor) how.successor = *std::move(successor);
  if (!successor && !how.requeue) return tl::unexpected<Error>(std::move(successor).error());
  watch_->request_return(std::move(how));
  return returned(outcome, watch_->wait_returned());
}

Result<std::optional<int>> JobEnd::end_stopped() {
  const auto events = ledger_.events();
  const auto stopped = run::stopped_attempt(events);
  if (!stopped || watch_ == nullptr || !is_whole_) return std::nullopt;
  const run::Outcome outcome{
      run::Cause::stopped,
      k_checkpointed,
      fmt::format("{}; its agent was killed, and did not record what was saved",
                  run::k_asked_by_user)};
  log("attempt {}: {}", *stopped, outcome.detail);
  if (run::unfinished_attempt(events) == stopped) {
    run::AttemptEnded ended = run::ended_event(outcome);
    ended.checkpoint = newest_checkpoint(job_);
    note_event(ledger_, job_, *stopped, {.what = std::move(ended)});
  }
  run::Circumstances now;
  now.in_scheduler = true;
  now.stop_asked = run::k_asked_by_user;
  const run::Decision decision = run::decide(outcome, now, job_.policy);
  DTS_TRY(note_decision(decision));
  return decision.exit_code;
}

Result<void> JobEnd::note_decision(const run::Decision& decision) {
  run::Decided decided = run::decided_event(decision);
  if (run::ends_run(decision.action)) decided.seconds = time_use(job_.run, ledger_.events());
  DTS_TRY(note_({.what = std::move(decided)}));
  if (!run::ends_run(decision.action) || watch_ == nullptr) return {};
  chain_.cut();
  if (is_whole_ && watch_->restarts_ended_jobs()) forbid_requeue();
  return {};
}

void JobEnd::await_return(JobWatch::Return how, const char* otherwise) {
  watch_->request_return(std::move(how));
  if (const auto settled = watch_->wait_returned(); !settled)
    log("{}: {}", otherwise, settled.error().message);
}

// If this fails, the job's next agent learns from the ledger that the run has ended.
void JobEnd::forbid_requeue() {
  JobWatch::Return how;
  how.forbid_requeue = true;
  await_return(std::move(how), "the job may be started once more, and then ends at once");
}

Result<int> JobEnd::stop_after_error(const run::Outcome& outcome, std::string why) {
  DTS_TRY(note_decision({run::Action::stop, outcome.exit_code, std::move(why)}));
  return outcome.exit_code;
}

Result<int> JobEnd::returned(const run::Outcome& outcome,
                             const Result<JobWatch::Returned>& answer) {
  if (!answer) {
    log("requeue: {}", answer.error().message);
    auto code = stop_after_error(
        outcome, "the scheduler refused to run the job again: " + answer.error().message);
    // The answer is unknown: Slurm may still requeue the job, but only as long as this process
    // lives.
    if (answer.error().code != Errc::rejected) wait_for_the_end();
    return code;
  }
  if (!answer->avoided.empty()) log("in quarantine, not asked for: {}", answer->avoided);
  const bool same = answer->job == job_.allocation.job;
  run::Event event{.job = answer->job, .what = run::Resubmitted{answer->trouble}};
  if (same) event.what = run::Requeued{answer->trouble};
  DTS_TRY(note_(std::move(event)));
  if (same)
    wait_for_the_end();
  else
    note_successor(answer->job);
  return 0;
}

void JobEnd::note_successor(sched::JobId job) const {
  log("job {} continues this run", job);
  if (const auto noted = run::add_job_to_index(job_.run, job); !noted)
    log("not in the index of runs: {}", noted.error().message);
}

void JobEnd::cancel() {
  JobWatch::Return how;
  how.cancel = true;
  await_return(std::move(how), "the job is not cancelled");
}

}  // namespace dts::launch
