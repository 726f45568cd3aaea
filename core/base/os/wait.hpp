// SPDX-License-Identifier: Apache-2.0
// poll(2) until a point in time.
#pragma once

#include <poll.h>

#include <chrono>
#include <span>

namespace dts {

// Blocks until one of `fds` is ready, `until` has come (time_point::max(): no limit) or a signal
// was handled; pollfd::revents is then set if ready, otherwise 0. False on a caller's error:
// nothing will ever be ready.
[[nodiscard]] bool wait_for_any(std::span<pollfd> fds, std::chrono::steady_clock::time_point until);

// The same for reading from a single one; true if it is ready.
[[nodiscard]] bool wait_readable(int fd, std::chrono::steady_clock::time_point until);

}  // namespace dts
