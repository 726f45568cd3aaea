// SPDX-License-Identifier: Apache-2.0
// The time of an attempt. Nothing in it reads a clock: the time is always passed in.
#pragma once

#include <chrono>

namespace dts::launch {

using Time = std::chrono::steady_clock::time_point;

struct AttemptClock {
  Time began;                                  // when the attempt was made
  std::chrono::system_clock::time_point wall;  // the agent's clock at that moment

  // The agent's wall clock at `time`, extrapolated from `wall`: setting the clock during the
  // attempt must not end it.
  [[nodiscard]] std::chrono::system_clock::time_point wall_at(Time time) const {
    return wall + (time - began);
  }
};

}  // namespace dts::launch
