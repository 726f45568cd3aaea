// SPDX-License-Identifier: Apache-2.0
// Finds pauses of this process: its job was suspended, or its node stood still.
#pragma once

#include "core/launch/attempt/state/attempt_clock.hpp"

#include <chrono>
#include <optional>

namespace dts::launch {

class PauseWatch {
 public:
  // The time since the last call if this process has been paused since, otherwise 0. Call it at
  // least once a second.
  [[nodiscard]] Time::duration look(Time now) {
    constexpr std::chrono::seconds k_pause{10};
    const Time::duration passed = now - looked_.value_or(now);
    looked_ = now;
    return passed > k_pause ? passed : Time::duration{};
  }

 private:
  std::optional<Time> looked_;
};

}  // namespace dts::launch
