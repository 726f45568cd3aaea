// SPDX-License-Identifier: Apache-2.0
// The stacks of a program's threads, for a person who wants to know why it hangs.
#pragma once

#include "core/base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dts::launch {

// Writes what can be learnt of `pid` and its children to `file`: py-spy's view where it is
// installed, gdb's likewise, and the kernel's (/proc: state and wait channel of each thread).
// Blocks, 25 s at most.
[[nodiscard]] Result<void> write_stacks(pid_t pid, const std::string& file);

// The program and what it has started, and what these have: 64 processes at most.
[[nodiscard]] std::vector<pid_t> family_of(pid_t pid);

// Processor time that they have used so far, in clock ticks (proc(5)).
[[nodiscard]] std::uint64_t ticks_worked(pid_t pid);

// True where the main thread of one of them waits in nanosleep(2) or its like; false also where the
// kernel does not let us see that.
[[nodiscard]] bool is_asleep(pid_t pid);

// The state letter of proc(5) of a process, "R", "S", "D", "T" ...; '?' where it is gone.
[[nodiscard]] char process_state(pid_t pid);

}  // namespace dts::launch
