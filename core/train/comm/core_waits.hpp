// SPDX-License-Identifier: Apache-2.0
// How long ranks of this node have waited for a core: such a rank is late, but not lost.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace dts::train {

// Not thread-safe.
class CoreWaits {
 public:
  explicit CoreWaits(std::vector<pid_t> ranks);

  // Since the last call, the longest that a rank had threads which could run and had no core
  // (the second number of /proc/PID/task/TID/schedstat), at most the time that has passed. Zero
  // where the kernel does not say.
  [[nodiscard]] std::chrono::nanoseconds since_last();

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<pid_t> ranks_;
  std::vector<std::uint64_t> waited_;  // nanoseconds of all threads of each, so far
  Clock::time_point last_;
};

}  // namespace dts::train
