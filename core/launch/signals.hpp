// SPDX-License-Identifier: Apache-2.0
// Signals as events: blocked, and read from a signalfd(2), which loses none (a shell's traps do).
#pragma once

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

#include <chrono>
#include <csignal>
#include <initializer_list>
#include <optional>

namespace dts::launch {

// To the agent: save and end, without a limit of time (`dtsubmit stop`). SIGTERM would not do: that
// is how Slurm announces SIGKILL after KillWait.
inline constexpr int k_stop_request = SIGUSR2;

// Blocks `signals` for the process (call before any thread starts) and returns a non-blocking
// signalfd for them. SIGPIPE is ignored from then on.
[[nodiscard]] Result<UniqueFd> take_signals(std::initializer_list<int> signals);

// The next signal; nullopt when none is waiting.
[[nodiscard]] std::optional<int> read_signal(int fd);

// Waits for `delay`, and logs it. False as soon as one of the signals of take_signals()'s `fd`
// tells to end: SIGTERM, SIGINT or k_stop_request.
[[nodiscard]] bool sleep_unless_ended(int fd, std::chrono::seconds delay);

// Waits for SIGTERM, `limit` at most; true if it came.
[[nodiscard]] bool wait_for_sigterm(int fd, std::chrono::seconds limit);

}  // namespace dts::launch
