// SPDX-License-Identifier: Apache-2.0
// How a job ends once its agent has decided the run's fate: it comes back under its own id or as a
// successor, waits for the scheduler to end it, or is cancelled. Single-threaded.
#pragma once

#include "core/launch/agent/after/chain_keeper.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/job_watch.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/ledger_writer.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace dts::launch {

// How long to wait for the job's record: libslurm's own timeout for an unreachable controller.
inline constexpr std::chrono::seconds k_record_patience{15};

// The scheduler as the job's agent sees it. `query_nodes`: see JobWatch.
[[nodiscard]] std::unique_ptr<JobWatch> watch_job(const Allocation& allocation, bool query_nodes);

class JobEnd {
 public:
  // Records an event of the latest attempt.
  using Note = std::function<Result<void>(run::Event)>;

  // `job` and `ledger` must outlive this object. `signals`: see take_signals().
  JobEnd(const Assignment& job, run::LedgerWriter& ledger, int signals, Note note)
      : job_(job), ledger_(ledger), signals_(signals), note_(std::move(note)), chain_(job) {}

  // `watch` may be null only without a scheduler; functions that query the scheduler need it. With
  // a scheduler, submits the next job of a chain, and cancels it when the run ends. `is_whole`:
  // false for a part of a run, whose end does not end the job.
  void use(JobWatch* watch, bool is_whole);

  // Adds what the scheduler currently reports about the job, of which no rank runs, and about its
  // nodes. Returns true if the scheduler has requeued the job.
  bool explain(run::Outcome& outcome);

  // `told`: the scheduler has notified the batch script that it will kill the job soon.
  void set_kill_imminent(bool told) { kill_imminent_ = told; }

  [[nodiscard]] bool kill_imminent() const { return kill_imminent_; }

  // Call it before the first attempt. If the agent before this one was killed while it stopped the
  // run for a user, records that the run is stopped, and returns this job's exit code.
  [[nodiscard]] Result<std::optional<int>> end_stopped();

  [[nodiscard]] Result<void> note_decision(const run::Decision& decision);

  // Carries out a requeue or a new submission. Returns this job's exit code.
  [[nodiscard]] Result<int> return_job(const run::Outcome& outcome, const run::Decision& decision);

  // Call it if the decision could not be carried out; then the run stops.
  [[nodiscard]] Result<int> stop_after_error(const run::Outcome& outcome, std::string why);

  // Call it if the scheduler has requeued the job by itself, although it must not run again.
  void cancel();

  // Keeps the job alive until the scheduler ends it: Slurm 22.05 to 23.11 never requeues a batch
  // script that exits during the grace time of a preemption.
  void wait_for_the_end();

 private:
  // Waits until the scheduler has carried out `how`; if it cannot, logs the consequence
  // `otherwise`.
  void await_return(JobWatch::Return how, const char* otherwise);
  void forbid_requeue();
  [[nodiscard]] Result<std::optional<int>> hand_over(const run::Outcome& outcome);
  [[nodiscard]] Result<int> returned(const run::Outcome& outcome,
                                     const Result<JobWatch::Returned>& answer);
  void note_successor(sched::JobId job) const;

  const Assignment& job_;
  run::LedgerWriter& ledger_;
  int signals_;
  Note note_;
  JobWatch* watch_ = nullptr;
  ChainKeeper chain_;
  bool is_whole_ = true;
  bool kill_imminent_ = false;
};

}  // namespace dts::launch
