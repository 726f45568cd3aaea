// SPDX-License-Identifier: Apache-2.0
// Runs one Attempt for real: starts the launcher, moves messages, turns signals, the scheduler's
// answers and the clock into the attempt's events. One thread.
#pragma once

#include "core/launch/agent/runner/launcher_process.hpp"
#include "core/launch/agent/runner/node_questions.hpp"
#include "core/launch/agent/runner/rank_connections.hpp"
#include "core/launch/agent/runner/run_directory_watch.hpp"
#include "core/launch/agent/runner/runner_settings.hpp"
#include "core/launch/agent/runner/scheduler_news.hpp"

#include <chrono>
#include <string>

namespace dts::launch {

class AttemptRunner {
 public:
  explicit AttemptRunner(RunnerSettings settings);
  AttemptRunner(const AttemptRunner&) = delete;
  AttemptRunner& operator=(const AttemptRunner&) = delete;

  // Blocks until every rank has ended and the cause is known. Errors only where it could not even
  // begin. The launcher may still live: its end can take longer than the scheduler gives a job that
  // it kills, and the outcome must be on record before.
  [[nodiscard]] Result<run::Outcome> run();

  // Ends the launcher and whatever it left: afterwards no process of the attempt is on this node.
  void clean_up();

  // True if the batch script has been told to end (SIGTERM): the scheduler will kill it soon.
  [[nodiscard]] bool told_to_end() const { return told_to_end_; }

  // What a save takes; 0: not known.
  [[nodiscard]] Seconds save_time() const { return attempt_.save_time(); }

  // See Attempt::newest_step().
  [[nodiscard]] std::uint64_t newest_step() const { return attempt_.newest_step(); }

  [[nodiscard]] bool interrupted() const { return interrupted_; }

  // True once k_stop_request came, also while something else was ending the attempt.
  [[nodiscard]] bool stop_asked() const { return stop_asked_; }

  // What it has said of the job.
  [[nodiscard]] const SchedulerNews& scheduler() const { return scheduler_; }

 private:
  void poll_once(std::chrono::milliseconds limit);
  void on_signal(int signal);
  void on_end_signal(int signal);
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
  bool told_to_end_ = false;
  bool interrupted_ = false;
  bool stop_asked_ = false;
};

}  // namespace dts::launch
