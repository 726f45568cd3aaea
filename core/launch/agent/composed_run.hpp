// SPDX-License-Identifier: Apache-2.0
// A run of several programs: the job's agent starts one agent per part (steps one after another,
// roles side by side) and combines their decisions into one for the whole job. Single-threaded.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/signals.hpp"
#include "core/launch/agent/job_end.hpp"
#include "core/launch/agent/kept_terminal.hpp"
#include "core/launch/agent/part_agent.hpp"
#include "core/launch/agent/recorded_attempt.hpp"
#include "core/launch/job/stop_way.hpp"
#include "core/run/directory/presence.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

class ComposedRun {
 public:
  // `options` must outlive this object.
  ComposedRun(const AgentOptions& options, Assignment job, UniqueFd signals)
      : options_(options), job_(std::move(job)), signals_(std::move(signals)) {}

  // Runs until every part is done, one has ended the run, or the run continues in another job.
  // Returns this job's exit code.
  [[nodiscard]] Result<int> run();

  // Reports events that never reached the ledger. True if every event did.
  [[nodiscard]] bool close() const { return close_ledger(ledger_, options_); }

 private:
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<void> read_parts();
  [[nodiscard]] Result<Variables> shared_variables();
  [[nodiscard]] Variables variables_of(const PartAgent& part) const;
  [[nodiscard]] Result<run::Verdict> run_all();
  [[nodiscard]] Result<run::Verdict> run_together(const std::vector<PartAgent*>& parts);
  [[nodiscard]] Result<std::vector<run::PartEnd>> run_once(const std::vector<PartAgent*>& parts);
  [[nodiscard]] Result<void> start_ready(const std::vector<PartAgent*>& parts);
  [[nodiscard]] Result<run::Verdict> judge(const std::vector<run::PartEnd>& ends);
  void listen(const std::vector<PartAgent*>& parts);
  void on_signal(const SentSignal& signal, const std::vector<PartAgent*>& parts);
  void on_end(const std::vector<run::PartEnd>& ends, const std::vector<PartAgent*>& parts);
  [[nodiscard]] bool is_ending() const;
  [[nodiscard]] run::Verdict ended_between();
  [[nodiscard]] run::Verdict given_up(const Error& failed);
  [[nodiscard]] Result<int> carry_out(const run::Verdict& verdict);
  [[nodiscard]] Result<void> note(run::Event event);

  const AgentOptions& options_;
  const Assignment job_;
  const run::RunDirectory& run_ = job_.run;
  UniqueFd signals_;
  run::Presence presence_{run_};
  run::LedgerWriter ledger_{run_.ledger()};
  std::unique_ptr<JobWatch> watch_;
  JobEnd end_{
      job_, ledger_, signals_.get(), [this](run::Event event) { return note(std::move(event)); }};
  KeptTerminal terminal_;
  unsigned attempt_ = 0;  // number within the whole run, one per job
  std::vector<PartAgent> parts_;
  Variables shared_;
  unsigned vanished_ = 0;  // agents of parts that vanished in this job
  bool stop_asked_ = false;
  Interrupts interrupts_;
  std::optional<int> end_signal_;  // SIGTERM, SIGINT, SIGHUP or SIGUSR1
};

}  // namespace dts::launch
