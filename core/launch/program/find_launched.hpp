// SPDX-License-Identifier: Apache-2.0
// The processes that a rank's program has started as ranks of their own, see second_launcher.hpp.
// Reads /proc; what it may not read is ignored. Not thread-safe.
#pragma once

#include "core/launch/wire/protocol.hpp"
#include "core/plan/plan.hpp"

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace dts::launch {

// The values, in the program's environment, of the variables that name a rank, its world and its
// meeting place.
using OwnVariables = std::map<std::string, std::string, std::less<>>;

// `program` and the processes below it whose environment has another rank, world or meeting place
// than `own`, and what started them. A process that inherited the same values, such as a data
// loader, does not count. nullopt: neither such a process nor a known launcher.
[[nodiscard]] std::optional<Launched> find_launched(pid_t program, const OwnVariables& own);

// When to look, and whether what was seen is new.
class LaunchedWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The program has started, with `given` on top of our own environment.
  void begin(const plan::Environment& given, Time now);

  // Time::max(): never.
  [[nodiscard]] Time next_look() const { return next_look_; }

  // Looks at the processes below the program (0: it has ended); returns what to report.
  [[nodiscard]] std::optional<Launched> look(pid_t program, Time now);

 private:
  OwnVariables own_;
  Time often_until_;
  Time next_look_ = Time::max();
  std::optional<Launched> told_;
  Time gone_at_ = Time::max();  // when the reported launcher had disappeared
};

}  // namespace dts::launch
