// SPDX-License-Identifier: Apache-2.0
// One attempt of a run, with its own number and log, on nodes chosen for it. Records everything
// that happens in the ledger.
#pragma once

#include "core/launch/agent/agent.hpp"
#include "core/launch/agent/live_output.hpp"
#include "core/launch/agent/runner/attempt_runner.hpp"
#include "core/launch/agent/runner/storage_patience.hpp"
#include "core/launch/health/node_pool.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/run/ledger/ledger_writer.hpp"
#include "core/run/ledger/take_over.hpp"

#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

// Shared by all attempts, which it must outlive.
struct AttemptContext {
  const AgentOptions& options;
  const Assignment& job;
  NodePool& pool;
  run::LedgerWriter& ledger;
  JobWatch* watch = nullptr;  // null without a scheduler
  int signals = -1;           // signalfd, see take_signals()
  StoragePatience& patience;
  std::shared_future<Result<topo::NodeTopology>> topology;
};

struct AttemptEnd {
  run::Outcome outcome;
  bool kill_imminent = false;  // the scheduler will kill the job soon
  bool requeued = false;       // the scheduler has requeued the job by itself
  std::string stop_asked{};    // by whom; empty: by nobody
};

// Takes the run's next attempt for this agent. From then on, the agent's standard error is the
// attempt's log. Errors: the disk's. If the log cannot be created, the agent continues on its own
// standard error.
[[nodiscard]] Result<run::TakenAttempt> take_attempt(const Assignment& job);

// Records an event with the attempt's number and, unless the event names another, the job. A disk
// error is logged and does not end the run: the event is written later, see LedgerWriter.
void note_event(run::LedgerWriter& ledger,
                const Assignment& job,
                unsigned attempt,
                run::Event event);

// How an attempt ends that cannot write the run's files, or read them.
[[nodiscard]] run::Outcome storage_outcome(const Error& failed);

// Logs the events that never reached the ledger and, as the agent of a part, hands them to the
// agent of the whole run. True if every event is in the ledger.
[[nodiscard]] bool close_ledger(const run::LedgerWriter& ledger, const AgentOptions& options);

class RecordedAttempt {
 public:
  explicit RecordedAttempt(AttemptContext context) : in_(std::move(context)) {}

  RecordedAttempt(const RecordedAttempt&) = delete;
  RecordedAttempt& operator=(const RecordedAttempt&) = delete;

  // Takes the run's next attempt number and chooses nodes. From then on, standard error is the
  // attempt's log.
  [[nodiscard]] Result<void> begin();

  // Blocks until the attempt has ended, its cause is in the ledger, and none of its processes is
  // left on this node. Errors: the attempt could not begin (also recorded in the ledger), or the
  // run directory failed.
  [[nodiscard]] Result<AttemptEnd> run();

  // Calls note_event() for this attempt.
  [[nodiscard]] Result<void> note(run::Event event);

  [[nodiscard]] unsigned number() const { return number_; }

 private:
  [[nodiscard]] Result<void> choose_nodes();
  [[nodiscard]] RunnerSettings runner_settings();
  [[nodiscard]] run::Outcome doubted(run::Outcome outcome);
  [[nodiscard]] std::optional<std::int64_t> newest_step(const AttemptRunner& runner) const;
  [[nodiscard]] Result<run::Outcome> try_attempt(AttemptRunner& runner);
  [[nodiscard]] Result<void> on_started(const Attempt& attempt);
  void on_stop(const Attempt& attempt);
  void on_event(run::Event event);
  void join_beginning();
  [[nodiscard]] Result<void> note_unfit(const std::vector<run::UnfitNode>& nodes);
  [[nodiscard]] std::vector<std::string> nodes_taken(const AttemptRunner& runner) const;
  [[nodiscard]] run::Outcome explained(run::Outcome outcome, const AttemptRunner& runner) const;

  AttemptContext in_;
  const Assignment& job_ = in_.job;
  const run::RunDirectory& run_ = job_.run;
  const plan::Plan& plan_ = job_.plan;
  unsigned number_ = 0;
  run::FailureRecord record_;  // of earlier attempts
  NodeChoice choice_;
  std::optional<std::filesystem::file_time_type> stopped_at_;  // by the run directory's clock
  std::vector<std::string> rank_nodes_;  // by rank; empty until all have started
  unsigned master_port_ = 0;             // 0 until then
  std::optional<LiveOutput> output_;     // for `dtsubmit run`
  std::future<Result<void>> beginning_;  // writes the first records to disk
  Result<void> begun_;                   // the result of that write
};

}  // namespace dts::launch
