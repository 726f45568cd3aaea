// SPDX-License-Identifier: Apache-2.0
// `dtsubmit guard`: the process of the batch script. It runs `dtsubmit agent` as a child and starts
// it again if a signal ends it, for example because the node's memory is exhausted. It does as
// little as possible, so that only a kill can end it.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts::launch {

// Blocks until the job's agent exits, and returns its exit code. If a signal ends the third agent
// of this job, this process ends by the same signal. Fails if an agent cannot be started.
// `dtsubmit` is the path of our program, and `run_directory` is absolute. Call it before any thread
// is started, because it blocks signals.
[[nodiscard]] Result<int> guard_agent(const std::string& dtsubmit,
                                      const std::string& run_directory);

}  // namespace dts::launch
