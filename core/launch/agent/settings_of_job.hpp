// SPDX-License-Identifier: Apache-2.0
// What an attempt needs to know about its job.
#pragma once

#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/job/assignment.hpp"

namespace dts::launch {

// The settings of attempt `number` on all nodes of the allocation, with a token of its own and the
// current time, but without the node's topology and the record of earlier attempts.
[[nodiscard]] AttemptSettings attempt_settings(const Assignment& job, unsigned number);

}  // namespace dts::launch
