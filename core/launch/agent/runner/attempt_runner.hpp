// SPDX-License-Identifier: Apache-2.0
// Runs an Attempt on real processes: starts the launcher, transfers messages, and turns signals,
// the scheduler's answers and the clock into events of the attempt. Single-threaded.
#pragma once

#include "core/base/os/signals.hpp"
#include "core/launch/agent/runner/launcher_process.hpp"
#include "core/launch/agent/runner/node_questions.hpp"
#include "core/launch/agent/runner/rank_connections.hpp"
#include "core/launch/agent/runner/run_directory_watch.hpp"
#include "core/launch/agent/runner/runner_settings.hpp"
#include "core/launch/agent/runner/scheduler_news.hpp"
#include "core/launch/job/stop_way.hpp"

#include <chrono>
#include <string>

namespace dts::launch {

class AttemptRunner {
 public:
  explicit AttemptRunner(RunnerSettings settings);
  AttemptRunner(const AttemptRunner&) = delete;
  AttemptRunner& operator=(const AttemptRunner&) = delete;

  // Blocks until every rank has ended and the cause is known. An error means that the attempt could
  // not begin. The launcher may still be running: it can take longer to end than the scheduler
  // allows a job that it kills, and the outcome must be recorded before that.
  [[nodiscard]] Result<run::Outcome> run();

  // Ends the launcher and its remaining processes. Afterwards no process of the attempt is left on
  // this node.
  void clean_up();

  // True if the batch script received SIGTERM, which means that the scheduler will kill it soon.
  [[nodiscard]] bool kill_imminent() const { return kill_imminent_; }

  // How long a save takes; 0 if not known.
  [[nodiscard]] Seconds save_time() const { return attempt_.save_time(); }

  // See Attempt::newest_step().
  [[nodiscard]] std::uint64_t newest_step() const { return attempt_.newest_step(); }

  [[nodiscard]] const plan::Plan& plan() const { return settings_.attempt.plan; }

  [[nodiscard]] bool interrupted() const { return interrupts_.count() > 0; }

  // True once k_stop_request has arrived, even if the attempt was already ending for another
  // reason.
  // By whom; empty: by nobody.
  [[nodiscard]] const std::string& stop_asked() const { return stop_asked_; }

  // What the scheduler reported about the job during the attempt.
  [[nodiscard]] const SchedulerNews& scheduler() const { return scheduler_; }

 private:
  void poll_once(std::chrono::milliseconds limit);
  void on_signal(const SentSignal& signal);
  void on_end_signal(const SentSignal& signal);
  void on_children();
  void on_notice(const Notice& notice);
  void on_step_signal(int signal, const std::string& detail);
  void tick();
  void on_started(Time now);
  void tell_news();
  void wait_for_facts();
  void confirm_cause();

  RunnerSettings settings_;
  Attempt attempt_;
  LauncherProcess launcher_;
  RankConnections connections_;
  SchedulerNews scheduler_;
  NodeQuestions questions_;
  RunDirectoryWatch directory_;
  bool kill_imminent_ = false;
  Interrupts interrupts_;
  std::string stop_asked_;
};

}  // namespace dts::launch
