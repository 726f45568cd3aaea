// SPDX-License-Identifier: Apache-2.0
// How a rank's program gets on, and what of it the agent is told. Not thread-safe.
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

  // Makes the page for the program's heartbeat and adds the variables that name it.
  [[nodiscard]] Result<void> prepare(std::uint64_t checkpoint_every, plan::Environment& variables);

  // The program has started, by `order`.
  void begin(const Go& order, Time now);

  void advise(std::uint64_t milliseconds) {
    if (page_) page_->advise(milliseconds);
  }

  // Saving is no hang: the agent has its own limit for it.
  void expect_end() { watch_.reset(); }

  // All that is known of the program `pid` now.
  [[nodiscard]] Progress report(pid_t pid, Time now);

  // Time::max(): there is nothing to look at.
  [[nodiscard]] Time next_look() const { return next_look_; }

  // A look at the program `pid` (0: it has ended); what there is to report, if it is time for it.
  [[nodiscard]] std::optional<Progress> look(pid_t pid, Time now);

  // After its end: what it has not yet told. The save that it was asked for may be its first.
  [[nodiscard]] std::optional<Progress> last_news(Time now);

  // The program has told that nothing is left to do.
  [[nodiscard]] bool says_done() const { return page_ && page_->finished(); }

 private:
  [[nodiscard]] Progress read_page(Time now);

  std::optional<BeatPage> page_;
  std::optional<ProgressWatch> watch_;  // while the program is to get on
  bool may_hang_ = false;               // and is judged by it
  bool hung_ = false;                   // and was, at the last look
  std::optional<IdleWatch> idle_;
  PaceWatch pace_;
  std::string log_;
  Time next_look_ = Time::max();
  Time next_report_;
  std::uint64_t told_step_ = 0;  // in the last report
};

}  // namespace dts::launch
