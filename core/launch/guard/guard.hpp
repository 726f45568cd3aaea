// SPDX-License-Identifier: Apache-2.0
// `dtsubmit guard`: the process of the batch script. It does as little as possible, so that nothing
// can end it but a kill: it runs `dtsubmit agent` as a child and starts it again if it is killed,
// for example because the node's memory is exhausted.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts::launch {

// Blocks until the job's agent has ended by itself, and returns its exit code. After the third kill
// in this job, this process ends by the same signal. `dtsubmit` is the path of our program, and
// `run_directory` is absolute. Call it before any thread is started, because it blocks signals.
[[nodiscard]] Result<int> guard_agent(const std::string& dtsubmit,
                                      const std::string& run_directory);

}  // namespace dts::launch
