// SPDX-License-Identifier: Apache-2.0
// The attempts of one job, one after another, and the decision after each. Single-threaded.
#pragma once

#include "core/launch/agent/job_end.hpp"
#include "core/launch/agent/kept_terminal.hpp"
#include "core/launch/agent/recorded_attempt.hpp"
#include "core/launch/agent/runner/storage_patience.hpp"
#include "core/run/directory/presence.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

class AttemptLoop {
 public:
  AttemptLoop(const AgentOptions& options, Assignment job, UniqueFd signals)
      : options_(options),
        job_(std::move(job)),
        signals_(std::move(signals)),
        pool_({job_.allocation.nodes,
               plan_.nodes,
               {run_.path, plan_.ntasks_per_node, plan_.gpus_per_node, job_.spec.memory_mib},
               job_.spec.preflight,
               options_.dtsubmit,
               run_}) {}

  // Runs until the run is done, stopped, or continued in another job. Returns this job's exit code.
  [[nodiscard]] Result<int> run();

  // Makes standard error again what it was before the attempts.
  void restore_terminal() const { terminal_.restore(); }

  // `failed`, or if the run directory has disappeared an error that says so, as this explains any
  // failure.
  [[nodiscard]] Error explained(Error failed);

  // Records the last event of a run that ended without a decision, and reports events that never
  // reached the ledger. True if every event did.
  [[nodiscard]] bool close(const Error* failed);

 private:
  [[nodiscard]] Result<std::optional<int>> carry_out(const AttemptEnd& ended,
                                                     const run::Decision& decision);
  [[nodiscard]] Result<std::optional<int>> pause(const AttemptEnd& ended,
                                                 std::chrono::seconds delay);
  [[nodiscard]] Result<std::optional<int>> end_during_delay(int signal);
  void await_controller(run::Cause cause);
  [[nodiscard]] run::Decision decide(const AttemptEnd& ended,
                                     const std::vector<run::Event>& events) const;
  [[nodiscard]] Result<void> note(run::Event event);
  void unstage_pool();
  [[nodiscard]] Result<AttemptEnd> make_attempt(const AttemptContext& context);

  const AgentOptions& options_;
  const Assignment job_;
  const run::RunDirectory& run_ = job_.run;
  const plan::Plan& plan_ = job_.plan;
  UniqueFd signals_;
  StoragePatience patience_{signals_.get()};
  NodePool pool_;
  run::LedgerWriter ledger_{run_.ledger()};
  run::Presence presence_{run_};
  KeptTerminal terminal_;
  std::unique_ptr<JobWatch> watch_;
  std::optional<RecordedAttempt> attempt_;  // the latest
  JobEnd end_{
      job_, ledger_, signals_.get(), [this](run::Event event) { return note(std::move(event)); }};
  bool has_unstaged_ = false;   // see unstage_pool()
  bool disk_was_full_ = false;  // when the last attempt ended
};

}  // namespace dts::launch
