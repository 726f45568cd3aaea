// SPDX-License-Identifier: Apache-2.0
// The stacks of a program's threads, for a user who wants to know why it hangs.
#pragma once

#include "core/base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dts::launch {

// Writes to `file` what can be learnt about `pid` and its children: the output of py-spy and gdb,
// if installed, and the kernel's view (/proc: state and wait channel of each thread). A program
// that may be `saving` is not paused: py-spy reads it while it runs, and gdb is omitted. Blocks for
// at most 25 s, then for at most 3 s.
[[nodiscard]] Result<void> write_stacks(pid_t pid, const std::string& file, bool saving);

// `pid` and its descendants: at most 64 processes.
[[nodiscard]] std::vector<pid_t> family_of(pid_t pid);

// The processor time that family_of(pid) has used so far, in clock ticks (proc(5)).
[[nodiscard]] std::uint64_t ticks_worked(pid_t pid);

// True if the main thread of a process in family_of(pid) waits in nanosleep(2) or the like. False
// also if the kernel does not let us see that.
[[nodiscard]] bool is_asleep(pid_t pid);

// The state letter of a process (proc(5)), "R", "S", "D", "T" ...; '?' if it is gone.
[[nodiscard]] char process_state(pid_t pid);

}  // namespace dts::launch
