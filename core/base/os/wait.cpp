// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/wait.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

namespace dts {
namespace {

using Clock = std::chrono::steady_clock;

// Rounded up, because otherwise the last millisecond would be spent in a busy loop.
int milliseconds_until(Clock::time_point until) {
  if (until == Clock::time_point::max()) return -1;
  const auto now = Clock::now();
  if (until <= now) return 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
  return static_cast<int>(std::min<long>(left, std::numeric_limits<int>::max()));
}

}  // namespace

bool wait_for_any(std::span<pollfd> fds, Clock::time_point until) {
  for (pollfd& one : fds) one.revents = 0;
  return ::poll(fds.data(), fds.size(), milliseconds_until(until)) >= 0 || errno == EINTR;
}

bool wait_readable(int fd, Clock::time_point until) {
  pollfd waiting{fd, POLLIN, 0};
  return wait_for_any({&waiting, 1}, until) && waiting.revents != 0;
}

}  // namespace dts
