// SPDX-License-Identifier: Apache-2.0
// The set-up of this rank's node, run by the node's first rank in a child shell, whose changes to
// its environment are read when it has ended. Not thread-safe.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/launch/wire/protocol.hpp"
#include "core/stage/meter.hpp"
#include "core/stage/stage_folder.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

class RankSetUp {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `record`: the file that says where this node's staged files are.
  RankSetUp(stage::StagePlace place, std::string record)
      : place_(std::move(place)), record_(std::move(record)) {}

  // Errors are the machine's: bash is missing, or the log cannot be written.
  [[nodiscard]] Result<void> start(const SetUp& order);

  [[nodiscard]] bool running() const { return pid_ > 0; }

  [[nodiscard]] pid_t pid() const { return pid_; }  // 0 or -1: none

  // The result, once the set-up has ended. Call it on SIGCHLD, before anything else waits for
  // children.
  [[nodiscard]] std::optional<SetUpEnded> reap();

  // When to call poll(); Time::max(): never.
  [[nodiscard]] Time next_poll() const { return next_poll_; }

  // How far staging is, if that has changed.
  [[nodiscard]] std::optional<Staging> poll(Time now);

  // Kills all processes of the set-up that still run.
  void kill();

  // Runs the job's tear-down for at most `limit`. Call it when the programs have ended or failed to
  // start.
  void tear_down(std::chrono::milliseconds limit);

  // Removes the staged files. Without this, the next attempt finds them.
  void remove_staged();

 private:
  [[nodiscard]] Result<void> open_stage(std::vector<std::string>& environment);
  [[nodiscard]] SetUpEnded read_results(int wait_status);
  [[nodiscard]] std::string staging_failure(const std::vector<std::string>& words) const;
  [[nodiscard]] std::string last_output() const;

  stage::StagePlace place_;
  std::string record_;
  stage::StageFolder stage_;  // kept in use as long as we live
  stage::Progress staged_;
  Time next_poll_ = Time::max();
  pid_t pid_ = 0;
  SetUp order_;
  UniqueFd results_;
  std::vector<std::string> before_;  // environment that the set-up started with
};

// `set` has the "NAME=value" entries that are new or different in `after`, `unset` the names that
// only `before` has. Variables that a shell sets for itself are omitted. Pure.
[[nodiscard]] EnvironmentChanges changes_of_environment(const std::vector<std::string>& before,
                                                        const std::vector<std::string>& after);

// Applies them to our own environment.
void apply(const EnvironmentChanges& changes);

}  // namespace dts::launch
