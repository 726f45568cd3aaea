// SPDX-License-Identifier: Apache-2.0
// Whether a run may start: the runs that it waits for (--after) are over, and as was asked.
#pragma once

#include "core/launch/job/assignment.hpp"

#include <optional>

namespace dts::launch {

// The job's exit code if it may not: 0 where another job waits on for it, otherwise the run is
// stopped, with the reason in its ledger. nullopt: it may. Only the first attempt has to ask.
[[nodiscard]] Result<std::optional<int>> wait_on(const Assignment& job);

}  // namespace dts::launch
