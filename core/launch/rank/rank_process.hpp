// SPDX-License-Identifier: Apache-2.0
// One rank, once it is connected to its agent: follows the agent's orders, runs and watches the
// program, and reports to the agent. Single-threaded.
#pragma once

#include "core/base/net/line_connection.hpp"
#include "core/base/os/detached_call.hpp"
#include "core/launch/health/preflight.hpp"
#include "core/launch/launcher/revival/revival.hpp"
#include "core/launch/program/find_launched.hpp"
#include "core/launch/program/oom.hpp"
#include "core/launch/program/program.hpp"
#include "core/launch/rank/rank_binding.hpp"
#include "core/launch/rank/rank_container.hpp"
#include "core/launch/rank/rank_meeting.hpp"
#include "core/launch/rank/rank_progress.hpp"
#include "core/launch/rank/rank_segments.hpp"
#include "core/launch/rank/rank_set_up.hpp"
#include "core/launch/wire/protocol.hpp"
#include "core/run/directory/rank_logs.hpp"

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

class RankProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `command`: the program's argv, which must outlive this object.
  RankProcess(const std::vector<std::string>& command,
              UniqueFd socket,
              UniqueFd signals,
              HeldPort worker,
              RankSegments segments,
              RankPlace place,
              DetachedCall<NodeFacts> measurement)
      : command_(command),
        agent_(std::move(socket), k_longest_line),
        signals_(std::move(signals)),
        worker_(std::move(worker)),
        segments_(std::move(segments)),
        measurement_(std::move(measurement)),
        place_(place),
        container_(place),
        set_up_({place.node, place.run_directory},
                run::stage_record({place.run_directory}, place.attempt, place.node)) {}

  void say(const FromRank& message) { agent_.send(to_line(message)); }

  // Blocks until the program has ended and the agent knows it. Returns our own exit code.
  [[nodiscard]] int run();

 private:
  void handle(const AskClock&);
  void handle(const Listen& message);
  void handle(const Probe& message);
  void handle(const SetUp& message);
  void handle(const Go& message);
  void handle(const Advise& message);
  void handle(const Stacks& message);
  void handle(const ReadBack&);
  void handle(const Stop& message);
  void handle(const Kill&);

  void handle(const Bye& message) {
    over_ = true;
    leaves_node_ = message.leaves_node;
  }

  void on_agent_lost();
  void on_signals();
  void report_exit(int code);
  void look_at_program();
  [[nodiscard]] Result<void> start_program(const Go& order,
                                           const std::vector<std::string>& command,
                                           const plan::Environment& environment);
  [[nodiscard]] Time next_event() const;  // when the next timed event is due
  [[nodiscard]] bool outlives_deadline();
  [[nodiscard]] bool serve();
  void read_agent();
  void stop_program();

  const std::vector<std::string>& command_;
  LineConnection agent_;
  UniqueFd signals_;
  HeldPort worker_;  // sockets are open until the program starts, claims as long as we live
  HeldPort rendezvous_;
  RankSegments segments_;                // declared before the program, so destroyed after it
  DetachedCall<NodeFacts> measurement_;  // in the first rank of a node
  std::string nonce_;
  Revival revival_;
  RankPlace place_;
  RankContainer container_;
  Program program_;
  OomCounter oom_;
  RankProgress progress_;
  RankBinding binding_;
  RankSetUp set_up_;
  LaunchedWatch launched_;
  pid_t stacks_ = 0;  // the process that writes the stacks
  int stop_signal_ = SIGTERM;
  bool signals_reach_program_ = false;  // whether the scheduler's signals reach it without us
  std::optional<int> reached_by_;       // the last such signal
  std::optional<int> stop_due_;         // the agent's, in case the scheduler's does not arrive
  Time stop_at_ = Time::max();
  bool agent_alive_ = true;
  bool contained_ = false;
  bool reported_ = false;
  bool over_ = false;
  bool leaves_node_ = false;
  Time deadline_ = Time::max();  // when to kill the program, or to give up
};

}  // namespace dts::launch
