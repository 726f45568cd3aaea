// SPDX-License-Identifier: Apache-2.0
// What an attempt needs to know of the job it belongs to.
#pragma once

#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/job/assignment.hpp"

namespace dts::launch {

// For attempt `number` on all nodes of the allocation, which it measures itself, with a token of
// its own and the clock of now; without a record of the attempts before.
[[nodiscard]] AttemptSettings attempt_settings(const Assignment& job, unsigned number);

}  // namespace dts::launch
