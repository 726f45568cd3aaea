// SPDX-License-Identifier: Apache-2.0
// Chooses which of a rank's processes receives a stop signal. A shell that runs a command without
// `exec` would die of the signal, and the command would end with it, unsaved, so the signal goes to
// the process that handles it. Reads proc(5). Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace dts::launch {

// True for a process that by its name only runs another for its user: a shell, or a program such as
// `conda run`, strace or `accelerate launch`. False if proc(5) does not show it.
[[nodiscard]] bool is_named_wrapper(pid_t pid);

// The children that its main thread waits for at this moment and that have run for most of its
// life: the program that a script was started for, not one of many short ones, as an upload after
// each checkpoint.
[[nodiscard]] std::vector<pid_t> wrapped_children(pid_t pid);

// The signals for which the process has handlers of its own, signal N in bit N - 1. 0 if proc(5)
// does not show it.
[[nodiscard]] std::uint64_t handled_signals(pid_t pid);

[[nodiscard]] constexpr bool has_signal(std::uint64_t signals, int signal) {
  return (signals >> (signal - 1) & 1U) != 0;
}

// True if the process has its own handler for `signal`.
[[nodiscard]] inline bool handles(pid_t pid, int signal) {
  return has_signal(handled_signals(pid), signal);
}

// `leader` itself, unless it is a wrapper, by its name or by its children, without a handler, or
// strace, `uv run` and the like, whose handlers do not save: then the nearest processes below it
// that have one, or `leader` if there is none.
[[nodiscard]] std::vector<pid_t> stop_targets(pid_t leader, int signal);

}  // namespace dts::launch
