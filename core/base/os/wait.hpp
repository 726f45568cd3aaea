// SPDX-License-Identifier: Apache-2.0
// poll(2) until a point in time.
#pragma once

#include <poll.h>

#include <chrono>
#include <span>

namespace dts {

// Blocks until one of `fds` is ready, `until` has come (time_point::max(): no limit) or a signal
// was handled. Sets pollfd::revents of descriptors that are ready, and 0 in the others. False if
// the caller made a mistake, so that nothing will ever be ready.
[[nodiscard]] bool wait_for_any(std::span<pollfd> fds, std::chrono::steady_clock::time_point until);

// The same for reading from one descriptor; true if it is ready.
[[nodiscard]] bool wait_readable(int fd, std::chrono::steady_clock::time_point until);

}  // namespace dts
