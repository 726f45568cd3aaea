// SPDX-License-Identifier: Apache-2.0
// The set-up of this rank's node, run by its first rank: a shell beside us, whose changes to its
// environment are read when it has ended. Not thread-safe.
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

  // The error is the machine's: no bash, no log.
  [[nodiscard]] Result<void> start(const SetUp& order);

  [[nodiscard]] bool running() const { return pid_ > 0; }

  // What came of it, once it has ended; to be called on SIGCHLD, before anybody else waits for
  // children.
  [[nodiscard]] std::optional<SetUpEnded> reap();

  // When staging is to be looked at.
  [[nodiscard]] Time next_look() const { return next_look_; }

  // What is new of it.
  [[nodiscard]] std::optional<Staging> look(Time now);

  // What still runs of it is killed.
  void kill();

  // The programs have ended, or never started: runs the job's tear-down, for so long at most.
  void tear_down(std::chrono::milliseconds limit);

  // Removes what was staged; otherwise the next attempt finds it.
  void remove_staged();

 private:
  [[nodiscard]] Result<void> open_stage(std::vector<std::string>& environment);
  [[nodiscard]] SetUpEnded read_results(int wait_status);
  [[nodiscard]] std::string staging_failure(const std::vector<std::string>& words) const;
  [[nodiscard]] std::string last_output() const;

  stage::StagePlace place_;
  std::string record_;
  stage::StageFolder stage_;  // in use as long as we live
  stage::Progress staged_;
  Time next_look_ = Time::max();
  pid_t pid_ = 0;
  SetUp order_;
  UniqueFd results_;
  std::vector<std::string> before_;  // the environment that it was given
};

// "NAME=value" entries that `after` has and `before` has not or otherwise, and names that only
// `before` has; without those that a shell sets for itself. Pure.
[[nodiscard]] EnvironmentChanges changes_of_environment(const std::vector<std::string>& before,
                                                        const std::vector<std::string>& after);

// Makes them in our own environment.
void apply(const EnvironmentChanges& changes);

}  // namespace dts::launch
