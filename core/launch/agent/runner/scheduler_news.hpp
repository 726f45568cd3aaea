// SPDX-License-Identifier: Apache-2.0
// What the scheduler reports about the job during an attempt: taken from JobWatch, passed to the
// attempt, and kept until the attempt's end. Single-threaded.
#pragma once

#include "core/launch/agent/runner/pause_watch.hpp"
#include "core/launch/agent/runner/runner_settings.hpp"
#include "core/launch/health/node_probe.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

// Time for ranks to save if `left` remains, with a margin so that our kill precedes the
// scheduler's; at least `least`.
[[nodiscard]] std::chrono::seconds time_to_save(std::chrono::seconds left,
                                                std::chrono::seconds least);

// Time until the scheduler kills a job that it preempts. Without a grace time, the job returns to
// the queue at once: its record no longer has an end (Slurm 22.05 shows none, or one far ahead),
// and its processes have `kill_wait`. Pure.
[[nodiscard]] std::chrono::seconds time_after_preemption(const sched::JobInfo& job,
                                                         std::int64_t unix_now,
                                                         std::chrono::seconds kill_wait);

// When the scheduler ends the job. While the job is suspended, its time does not run, so that its
// end moves: after a pause of this process, it is unknown until the scheduler has reported it
// again.
class TimeLimit {
 public:
  // `time` in Unix seconds; 0 or less: not known.
  void set(std::int64_t time) { time_ = time; }

  [[nodiscard]] bool is_known() const { return time_ > 0; }

  // Call it at least once a second. True if this process has been paused since the last call.
  [[nodiscard]] bool is_after_pause(Time now);

  // The time from `unix_now` until the end; nullopt if not known.
  [[nodiscard]] std::optional<std::chrono::seconds> left(std::int64_t unix_now) const;

 private:
  std::int64_t time_ = 0;
  PauseWatch pauses_;
};

// Whether the agent itself must warn the ranks of a job that has been given `given` and has `left`:
// so long before its end as the scheduler would (`margin`), but not in the first half of its time.
// Pure.
[[nodiscard]] bool must_warn(std::chrono::seconds left,
                             std::chrono::seconds given,
                             std::chrono::seconds margin);

// The agent's own warning, once in an attempt, where the scheduler ends the job without its signal.
class OwnWarning {
 public:
  // From a record of the job: whether that is so now.
  void set(bool is_needed) { is_needed_ = is_needed; }

  [[nodiscard]] bool is_needed() const { return is_needed_; }

  // True once: when must_warn() is.
  [[nodiscard]] bool take(std::chrono::seconds left,
                          std::chrono::seconds given,
                          std::chrono::seconds margin);

 private:
  bool is_needed_ = false;
  bool is_given_ = false;
};

class SchedulerNews {
 public:
  SchedulerNews(const RunnerSettings& settings, Attempt& attempt)
      : settings_(settings), attempt_(attempt) {}

  [[nodiscard]] bool is_there() const { return settings_.watch != nullptr; }

  // Readable when there is something to take(); -1 without a scheduler.
  [[nodiscard]] int event_fd() const;

  void begin_attempt();
  void ask();
  void take();

  // Asks for a new record after a pause of this process.
  void on_tick(Time now);

  // True once the scheduler's node addresses and limits have arrived, or if they never will.
  [[nodiscard]] bool facts_known() const { return facts_known_ || !is_there(); }

  // The addresses of the daemons of `nodes`, as far as they are known.
  [[nodiscard]] std::vector<NodeEndpoint> endpoints(const std::vector<std::string>& nodes) const;

  // Time from the scheduler's signal to its kill.
  [[nodiscard]] std::chrono::seconds kill_wait() const {
    return std::chrono::seconds(kill_wait_seconds_);
  }

  // Why the job must stop now, if the scheduler is about to end it without the signal that it sends
  // before the time limit, and it is not being stopped already. See must_warn().
  [[nodiscard]] std::optional<std::string> take_warning();

  // Time until the scheduler ends the job; nullopt if not known.
  [[nodiscard]] std::optional<std::chrono::seconds> time_left() const;

  // The latest record of the job, if one has arrived.
  [[nodiscard]] const std::optional<sched::JobInfo>& job() const { return job_; }

  void forget_job() { job_.reset(); }

  // Nodes that the scheduler reported down when it requeued the job.
  [[nodiscard]] const std::vector<std::string>& down_nodes() const { return down_nodes_; }

  // True if the scheduler has answered once, so that further answers can be expected.
  [[nodiscard]] bool has_answered() const { return is_there() && settings_.watch->has_answered(); }

  // Remembers that the job's steps were signalled.
  void note_step_signal();

  // True if the controller was restarted after that signal, and thus lost any reason for it that it
  // had not saved.
  [[nodiscard]] bool reason_is_lost() const {
    return steps_signalled_at_ != 0 && controller_start_ >= steps_signalled_at_;
  }

 private:
  void on_facts(JobWatch::Facts facts);
  void on_job();
  void on_end();
  [[nodiscard]] std::int64_t unix_now() const;  // from the clock of Attempt::wall_at()

  const RunnerSettings& settings_;
  Attempt& attempt_;
  std::optional<sched::JobInfo> job_;
  std::vector<std::string> down_nodes_;
  TimeLimit limit_;
  OwnWarning own_warning_;
  bool told_of_unsure_end_ = false;
  std::int64_t began_ = 0;  // Unix seconds: when `limit_` was first known
  unsigned kill_wait_seconds_ = 30;
  std::map<std::string, std::string> node_addresses_;
  std::map<std::string, unsigned> node_ports_;
  bool facts_known_ = false;
  std::int64_t steps_signalled_at_ = 0;  // Unix seconds; 0: they were not
  std::int64_t controller_start_ = 0;    // Unix seconds; 0: not known
};

}  // namespace dts::launch
