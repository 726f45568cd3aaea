// SPDX-License-Identifier: Apache-2.0
// The stacks of a program's threads, for a person who wants to know why it hangs.
#pragma once

#include "core/base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dts::launch {

// Writes what can be learnt about `pid` and its children to `file`: the views of py-spy and gdb, if
// installed, and the kernel's (/proc: state and wait channel of each thread). Blocks for 25 s at
// most.
[[nodiscard]] Result<void> write_stacks(pid_t pid, const std::string& file);

// The program and its descendants: 64 processes at most.
[[nodiscard]] std::vector<pid_t> family_of(pid_t pid);

// The processor time that they have used so far, in clock ticks (proc(5)).
[[nodiscard]] std::uint64_t ticks_worked(pid_t pid);

// True if the main thread of one of them waits in nanosleep(2) or the like; false also if the
// kernel does not let us see that.
[[nodiscard]] bool is_asleep(pid_t pid);

// The state letter of a process (proc(5)), "R", "S", "D", "T" ...; '?' if it is gone.
[[nodiscard]] char process_state(pid_t pid);

}  // namespace dts::launch
