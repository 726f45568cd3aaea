// SPDX-License-Identifier: Apache-2.0
// One attempt of a run as its agent makes it: with a number of its own and a log, on nodes that are
// chosen for it, and everything that happens told to the ledger.
#pragma once

#include "core/launch/agent/agent.hpp"
#include "core/launch/agent/live_output.hpp"
#include "core/launch/agent/runner/attempt_runner.hpp"
#include "core/launch/health/node_pool.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/run/ledger/ledger_writer.hpp"

#include <future>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

// What attempts share; it outlives them.
struct AttemptContext {
  const AgentOptions& options;
  const Assignment& job;
  NodePool& pool;
  run::LedgerWriter& ledger;
  JobWatch* watch = nullptr;  // none without a scheduler
  int signals = -1;           // signalfd, see take_signals()
  std::shared_future<Result<topo::NodeTopology>> topology;
};

struct AttemptEnd {
  run::Outcome outcome;
  bool told_to_end = false;  // the scheduler will kill the job soon
  bool requeued = false;     // it has put the job back by itself
  bool stop_asked = false;   // by `dtsubmit stop`
};

class RecordedAttempt {
 public:
  explicit RecordedAttempt(AttemptContext context) : in_(std::move(context)) {}

  RecordedAttempt(const RecordedAttempt&) = delete;
  RecordedAttempt& operator=(const RecordedAttempt&) = delete;

  // Takes the run's next number and its nodes; standard error is the attempt's log from then on.
  [[nodiscard]] Result<void> begin();

  // Blocks until it has ended, the ledger knows why, and nothing of it is left on this node. Errors
  // where it could not begin, which the ledger knows too, and those of the run directory.
  [[nodiscard]] Result<AttemptEnd> run();

  // Into the ledger, with the attempt's number and, unless the event names another, its job. A disk
  // that takes nothing is said in the log and ends no run: the event waits, see LedgerWriter.
  [[nodiscard]] Result<void> note(run::Event event);

  [[nodiscard]] unsigned number() const { return number_; }

 private:
  [[nodiscard]] Result<void> open_log();
  [[nodiscard]] Result<void> choose_nodes();
  [[nodiscard]] RunnerSettings runner_settings();
  [[nodiscard]] run::Outcome doubted(run::Outcome outcome) const;
  [[nodiscard]] std::optional<std::int64_t> newest_step(const AttemptRunner& runner) const;
  [[nodiscard]] Result<run::Outcome> try_attempt(AttemptRunner& runner);
  [[nodiscard]] Result<void> on_started(const Attempt& attempt);
  void on_stop(const Attempt& attempt);
  void on_event(run::Event event);
  void join_beginning();
  [[nodiscard]] Result<void> note_unfit(const std::vector<run::UnfitNode>& nodes);
  [[nodiscard]] run::Outcome explained(run::Outcome outcome, const AttemptRunner& runner) const;

  AttemptContext in_;
  const Assignment& job_ = in_.job;
  const run::RunDirectory& run_ = job_.run;
  const plan::Plan& plan_ = job_.plan;
  unsigned number_ = 0;
  run::FailureRecord record_;  // of the attempts before
  NodeChoice choice_;
  std::vector<std::string> rank_nodes_;  // by rank, once all have started
  std::optional<LiveOutput> output_;     // for `dtsubmit run`
  std::future<Result<void>> beginning_;  // its first records on their way to the disk
  Result<void> begun_;                   // how that went
};

}  // namespace dts::launch
