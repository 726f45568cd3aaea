// SPDX-License-Identifier: Apache-2.0
// Finds the processes that a rank's program has started as ranks of their own, see
// second_launcher.hpp. Reads /proc and ignores what it lacks permission to read. Not thread-safe.
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

// The variables of the program's environment that give its rank, world size and rendezvous address,
// with their values.
using OwnVariables = std::map<std::string, std::string, std::less<>>;

// Finds the processes, `program` included, whose environment gives another rank, world or
// rendezvous than `own`, and what started them. A process that inherited the same values, such as a
// data loader, does not count. nullopt: there is neither such a process nor a known launcher.
[[nodiscard]] std::optional<Launched> find_launched(pid_t program, const OwnVariables& own);

// Decides when to look, and whether what was found is new.
class LaunchedWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Call it when the program has started with `given` on top of our own environment.
  void begin(const plan::Environment& given, Time now);

  // When to call poll(); Time::max(): never.
  [[nodiscard]] Time next_poll() const { return next_poll_; }

  // Looks at the processes below `program` (0: it has ended); returns what to report, if anything.
  [[nodiscard]] std::optional<Launched> poll(pid_t program, Time now);

 private:
  OwnVariables own_;
  Time poll_often_until_;
  Time next_poll_ = Time::max();
  std::optional<Launched> last_reported_;
  Time gone_at_ = Time::max();  // when the reported launcher was first found to be gone
};

}  // namespace dts::launch
