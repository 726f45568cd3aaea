// SPDX-License-Identifier: Apache-2.0
// How a job ends once its agent has decided the run's fate: it comes back under its id or as a
// successor, waits for the scheduler, or is cancelled. One thread.
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

// libslurm's own timeout for an unreachable controller.
inline constexpr std::chrono::seconds k_record_patience{15};

// The scheduler as the job's agent sees it. With `see_nodes` as for JobWatch.
[[nodiscard]] std::unique_ptr<JobWatch> watch_job(const Allocation& allocation, bool see_nodes);

class JobEnd {
 public:
  // Records an event of the newest attempt.
  using Note = std::function<Result<void>(run::Event)>;

  // `job` and `ledger` must outlive it. `signals`: see take_signals().
  JobEnd(const Assignment& job, run::LedgerWriter& ledger, int signals, Note note)
      : job_(job), ledger_(ledger), signals_(signals), note_(std::move(note)), chain_(job) {}

  // Null without a scheduler; required by the functions that query it. With a scheduler, submits
  // the next job of a chain, and cancels it when the run ends. `is_whole`: false for a part of a
  // run, whose end is not the job's.
  void use(JobWatch* watch, bool is_whole);

  // Adds what the scheduler says now of the job, of which no rank runs, and of its nodes. Returns
  // true if it has requeued the job.
  bool explain(run::Outcome& outcome);

  // The scheduler has notified the batch script that it will kill the job soon.
  void set_told_to_end(bool told) { told_to_end_ = told; }

  [[nodiscard]] bool told_to_end() const { return told_to_end_; }

  [[nodiscard]] Result<void> note_decision(const run::Decision& decision);

  // Carries out a requeue or a new submission. Returns the exit code of this job.
  [[nodiscard]] Result<int> come_back(const run::Outcome& outcome, const run::Decision& decision);

  // The decision could not be carried out: the run stops.
  [[nodiscard]] Result<int> end_here(const run::Outcome& outcome, std::string why);

  // Called if the scheduler has requeued the job by itself, but it must not run again.
  void cancel();

  // The job must stay alive until the scheduler ends it: a batch script that exits during a
  // preemption's grace time is never requeued by Slurm 22.05 to 23.11.
  void wait_for_the_end();

 private:
  // Waits until that is done with the job; otherwise logs what that means.
  void settle(JobWatch::Return how, const char* otherwise);
  void stay_ended();
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
  bool told_to_end_ = false;
};

}  // namespace dts::launch
