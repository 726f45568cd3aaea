// SPDX-License-Identifier: Apache-2.0
// The processes that the agent starts for an attempt: the launcher and, if it needs one, a sentinel
// step that receives the signal of a preemption. Single-threaded.
#pragma once

#include "core/launch/agent/runner/runner_settings.hpp"
#include "core/launch/launcher/launcher.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

class LauncherProcess {
 public:
  explicit LauncherProcess(const RunnerSettings& settings);
  ~LauncherProcess();
  LauncherProcess(const LauncherProcess&) = delete;
  LauncherProcess& operator=(const LauncherProcess&) = delete;

  [[nodiscard]] Result<void> start();

  // See LauncherCommand.
  [[nodiscard]] bool needs_sentinel() const { return needs_sentinel_; }

  // Starts a sentinel if none runs, and no more of them than a limit allows.
  void start_sentinel();

  struct Ended {
    std::optional<int> launcher{};  // its exit code
    bool sentinel = false;
  };

  // The processes that ended since the last call.
  [[nodiscard]] Ended reap();

  [[nodiscard]] bool runs() const { return launcher_ > 0; }

  // Kills the launcher and the sentinel.
  void kill();
  // Signals orphans of the launcher, which were reparented to us; false if there are none.
  [[nodiscard]] bool signal_orphans(int signal) const;
  void kill_orphans() const;

 private:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  [[nodiscard]] Result<LauncherCommand> command_of_launcher() const;
  [[nodiscard]] std::vector<std::string> rank_command() const;
  [[nodiscard]] std::vector<std::string> named_nodes() const;
  [[nodiscard]] Variables step_environment() const;

  const RunnerSettings& settings_;
  std::vector<pid_t> inherited_children_;  // children of the batch script, which exec'ed us
  pid_t launcher_ = 0;
  pid_t sentinel_ = 0;
  unsigned sentinels_ = 0;  // number started so far
  bool needs_sentinel_ = false;
};

}  // namespace dts::launch
