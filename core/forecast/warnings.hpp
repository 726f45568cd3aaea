// SPDX-License-Identifier: Apache-2.0
// What is worth a second look before a job is submitted. Pure, thread-safe.
#pragma once

#include "core/forecast/outlook.hpp"

#include <string>
#include <vector>

namespace dts::forecast {

// In clauses without a full stop, that say what to do. `partition` may be nullptr; of `outlook`,
// everything but the warnings is known.
[[nodiscard]] std::vector<std::string> warnings_of(const Job& job,
                                                   const sched::PartitionInfo* partition,
                                                   const Outlook& outlook);

}  // namespace dts::forecast
