// SPDX-License-Identifier: Apache-2.0
// Sets the cores of the calling process, and reads those of a process or thread back from the
// kernel (sched_setaffinity(2)).
#pragma once

#include "core/base/result.hpp"

#include <sys/types.h>

#include <vector>

namespace dts::launch {

// Binds this process, and so every child it starts later, to the PUs `cpus` (OS indices).
[[nodiscard]] Result<void> bind_to(const std::vector<unsigned>& cpus);

// The PUs this process may run on, ascending.
[[nodiscard]] std::vector<unsigned> current_binding();

// The PUs that any thread on this machine may run on; empty if there is no such thread.
[[nodiscard]] std::vector<unsigned> binding_of(pid_t thread);

}  // namespace dts::launch
