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

struct SentSignal {
  int number = 0;
  int sender = 0;  // pid; 0: the kernel, or a process of another pid namespace
};

// The same, with who sent it.
[[nodiscard]] std::optional<SentSignal> read_sent_signal(int fd);

// Waits for `delay`, and logs it; but only until one of the signals of take_signals()'s `fd` tells
// to end: SIGTERM, SIGINT, SIGUSR1 (the time limit is near) or k_stop_request. Then that signal.
[[nodiscard]] std::optional<int> sleep_unless_ended(int fd, std::chrono::seconds delay);

// Waits for SIGTERM, `limit` at most; true if it came.
[[nodiscard]] bool wait_for_sigterm(int fd, std::chrono::seconds limit);

}  // namespace dts::launch
