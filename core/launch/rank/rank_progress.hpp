// SPDX-License-Identifier: Apache-2.0
// Follows the progress of a rank's program and reports it to the agent. Not thread-safe.
#pragma once

#include "core/base/files/beat_page.hpp"
#include "core/launch/program/idle.hpp"
#include "core/launch/rank/progress.hpp"
#include "core/launch/wire/pace.hpp"
#include "core/launch/wire/protocol.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace dts::launch {

class RankProgress {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Creates the page for the program's heartbeat and adds the variables that lead to it. `file`:
  // the page's path, for a program in a container; empty: the page has no name.
  [[nodiscard]] Result<void> prepare(std::uint64_t checkpoint_every,
                                     const std::string& file,
                                     plan::Environment& variables);

  // Call it when the program has been started by `order`.
  void begin(const Go& order, Time now);

  void advise(std::uint64_t milliseconds) {
    if (page_) page_->advise(milliseconds);
  }

  // From now on nothing counts as a hang: the agent has a limit of its own for saving.
  void expect_end() { watch_.reset(); }

  // All that is currently known about the program `pid`.
  [[nodiscard]] Progress report(pid_t pid, Time now);

  // When to call poll(); Time::max(): never.
  [[nodiscard]] Time next_poll() const { return next_poll_; }

  // Looks at the program `pid` (0: it has ended); returns a report if one is due.
  [[nodiscard]] std::optional<Progress> poll(pid_t pid, Time now);

  // After the program has ended: what has not been reported yet. The save at the stop may be its
  // first.
  [[nodiscard]] std::optional<Progress> last_news(Time now);

  // True if the program has reported that nothing is left to do.
  [[nodiscard]] bool says_done() const { return page_ && page_->finished(); }

  // True if the program has reported that it has saved and wants to be run again.
  [[nodiscard]] bool asks_again() const { return page_ && page_->asks_again(); }

 private:
  [[nodiscard]] Progress read_page(Time now);

  std::optional<BeatPage> page_;
  std::optional<ProgressWatch> watch_;  // while the program should make progress
  bool may_hang_ = false;               // whether a hang would be reported
  bool was_hung_ = false;               // at the last look
  std::optional<IdleWatch> idle_;
  PaceWatch pace_;
  std::string log_;
  Time next_poll_ = Time::max();
  Time next_report_;
  std::uint64_t reported_step_ = 0;  // step in the last report
};

}  // namespace dts::launch
