// SPDX-License-Identifier: Apache-2.0
// Points to check before a job is submitted. Pure, thread-safe.
#pragma once

#include "core/forecast/outlook.hpp"

#include <string>
#include <vector>

namespace dts::forecast {

// Clauses without a full stop, which say what to do. `partition` may be nullptr. All members of
// `outlook` except its warnings must be set.
[[nodiscard]] std::vector<std::string> warnings_of(const Job& job,
                                                   const sched::PartitionInfo* partition,
                                                   const Outlook& outlook);

}  // namespace dts::forecast
