// SPDX-License-Identifier: Apache-2.0
// Measures how long ranks of this node waited for a core: such a rank is late, but not lost.
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

  // For how long runnable threads had no core since the last call (the second number of
  // /proc/PID/task/TID/schedstat), at most the time since that call; the maximum over all ranks.
  // Zero if the kernel does not report it.
  [[nodiscard]] std::chrono::nanoseconds since_last();

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<pid_t> ranks_;
  std::vector<std::uint64_t> waited_;  // nanoseconds so far, of all threads of each rank
  Clock::time_point last_;
};

}  // namespace dts::train
