// SPDX-License-Identifier: Apache-2.0
// Signals as events: blocked, and read from a signalfd(2), which loses none, unlike a shell's
// traps.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <chrono>
#include <csignal>
#include <initializer_list>
#include <optional>

namespace dts {

// Blocks `signals` for the process (call before any thread starts) and returns a non-blocking
// signalfd for them. SIGPIPE is ignored from then on.
[[nodiscard]] Result<UniqueFd> take_signals(std::initializer_list<int> signals);

// The next signal; nullopt if none is pending.
[[nodiscard]] std::optional<int> read_signal(int fd);

struct SentSignal {
  int number = 0;
  int sender = 0;  // pid; 0: the kernel, or a process of another pid namespace
  int value = 0;   // passed by sigqueue(3)
};

// The same, with the sender.
[[nodiscard]] std::optional<SentSignal> read_sent_signal(int fd);

// Waits at most `limit` for one of `awaited`, and discards any others that arrive first; nullopt if
// none arrives.
[[nodiscard]] std::optional<SentSignal> wait_for_one_of(int fd,
                                                        std::initializer_list<int> awaited,
                                                        std::chrono::milliseconds limit);

}  // namespace dts
