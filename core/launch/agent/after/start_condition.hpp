// SPDX-License-Identifier: Apache-2.0
// Whether a run may start: the runs it waits for (--after) must have ended as requested.
#pragma once

#include "core/launch/job/assignment.hpp"

#include <optional>

namespace dts::launch {

// nullopt if the run may start. Otherwise the job's exit code: 0 if another job now waits in its
// place; if not, the run is stopped, with the reason in its ledger. Only the first attempt needs to
// ask.
[[nodiscard]] Result<std::optional<int>> wait_on(const Assignment& job);

}  // namespace dts::launch
