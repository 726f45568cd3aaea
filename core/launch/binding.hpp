// SPDX-License-Identifier: Apache-2.0
// Cores of the calling process: set, and read back from the kernel (sched_setaffinity(2)).
#pragma once

#include "core/base/result.hpp"

#include <vector>

namespace dts::launch {

// Binds this process, and so every child it starts later, to the PUs `cpus` (OS indices).
[[nodiscard]] Result<void> bind_to(const std::vector<unsigned>& cpus);

// The PUs this process may run on, ascending.
[[nodiscard]] std::vector<unsigned> current_binding();

}  // namespace dts::launch
