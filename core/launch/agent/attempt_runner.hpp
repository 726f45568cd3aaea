// SPDX-License-Identifier: Apache-2.0
// Runs one Attempt for real: listens, starts the launcher, moves messages, turns signals, the
// scheduler's answers and the clock into the attempt's events. One thread.
#pragma once

#include "core/base/net/line_connection.hpp"
#include "core/launch/attempt/attempt.hpp"
#include "core/launch/health/node_doubt.hpp"
#include "core/launch/job/job_watch.hpp"
#include "core/launch/launcher/launcher.hpp"
#include "core/launch/wire/protocol.hpp"
#include "core/run/directory/presence.hpp"
#include "core/run/directory/run_directory.hpp"

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

struct RunnerSettings {
  AttemptSettings attempt;
  run::RunDirectory run;
  std::string dtsubmit;                                     // our own program's path
  std::vector<std::string> nodes;                           // to run on; empty: all of the job's
  bool local = false;                                       // no scheduler: this machine only
  int signals = -1;                                         // signalfd, see take_signals()
  std::shared_future<Result<topo::NodeTopology>> topology;  // of this node; on its way
  JobWatch* watch = nullptr;                                // may be null; not owned
  std::function<Result<void>(const Attempt&)> on_started;   // all ranks run; an error ends them
  std::function<void(const Attempt&)> on_stop;              // the programs have been asked to save
  std::function<void(run::Event)> on_event;                 // for the ledger
};

class AttemptRunner {
 public:
  explicit AttemptRunner(RunnerSettings settings);
  ~AttemptRunner();
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

  // The newest record of the job, if one came.
  [[nodiscard]] const std::optional<sched::JobInfo>& job() const { return job_; }

  // Those that the scheduler called down when it had put the job back.
  [[nodiscard]] const std::vector<std::string>& down_nodes() const { return down_nodes_; }

  // True where the job's steps were signalled by a controller that has been started again since:
  // what it had not written down of its reasons is lost.
  [[nodiscard]] bool reason_is_lost() const {
    return steps_signalled_at_ != 0 && controller_start_ >= steps_signalled_at_;
  }

 private:
  struct Connection {
    LineConnection line;
    std::string reached_at;
    Time since;
    std::size_t held = 0;   // bytes of an unfinished line, while it is a stranger
    bool is_known = false;  // has shown the token
  };

  [[nodiscard]] Result<void> open_channel();
  [[nodiscard]] Result<void> start_launcher();
  [[nodiscard]] Result<LauncherCommand> launcher_command(std::vector<std::string> rank_command);
  void start_sentinel();
  void poll_once(std::chrono::milliseconds limit);
  void accept_peers();
  void serve_peers();
  void listen_to(int peer, bool and_write);
  void welcome(int peer, Connection& connection);
  void hold(Connection& connection, std::size_t bytes);
  void keep_strangers_small();
  void log_refusal(int peer, const std::string& why);
  [[nodiscard]] bool read_peer(int peer);  // false: to be dropped
  void drop(int peer);
  void on_signal(int signal);
  void on_children();
  void on_notice(const Notice& notice);
  void on_step_signal(int signal, const std::string& detail);
  void on_sentinel_end();
  void ask_scheduler();
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> step_environment() const;
  void on_watch();
  [[nodiscard]] std::int64_t unix_now() const;  // by Attempt::wall_at()
  void look_at_silent_nodes();
  void ask_mute_nodes();
  void deliver();
  void tick();
  void look_at_run_directory(Time now);
  void confirm_cause();

  RunnerSettings settings_;
  Attempt attempt_;
  UniqueFd listener_;
  UniqueFd ready_;                   // epoll: poll(2) over thousands of ranks is most of the work
  std::map<int, Connection> peers_;  // by file descriptor
  std::vector<int> strangers_;       // those without a valid hello, in the order they came
  std::size_t held_ = 0;             // bytes of all strangers
  unsigned refusals_ = 0;
  std::vector<pid_t> not_ours_;  // children from before: of the script that exec'ed us
  pid_t launcher_ = 0;
  pid_t sentinel_ = 0;
  unsigned sentinels_ = 0;  // started so far
  std::optional<sched::JobInfo> job_;
  std::vector<std::string> down_nodes_;
  std::int64_t deadline_ = 0;  // Unix seconds at which the scheduler ends the job; 0: not known
  unsigned kill_wait_seconds_ = 30;
  std::map<std::string, std::string> node_addresses_;
  std::map<std::string, unsigned> node_ports_;
  std::future<std::vector<NodeSight>> sights_;               // of a look that is under way
  std::future<Result<std::vector<run::UnfitNode>>> unable_;  // likewise, of a question
  bool needs_sentinel_ = false;
  bool facts_known_ = false;
  bool told_to_end_ = false;
  bool interrupted_ = false;
  bool stop_asked_ = false;
  std::int64_t steps_signalled_at_ = 0;  // Unix seconds; 0: they were not
  std::int64_t controller_start_ = 0;    // likewise; 0: not known
  bool controller_known_ = false;        // it has answered once, so it will again
  Time next_fence_check_;
  run::Presence presence_{settings_.run};
  Time next_presence_check_;
  std::string checkpoint_;  // the newest
};

}  // namespace dts::launch
