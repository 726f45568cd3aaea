// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/run/ledger/ledger.hpp"

#include <vector>

namespace dts::run {

// The scheduler's id of the run's current or last job; empty: none yet. Pure.
[[nodiscard]] JobId newest_job(const std::vector<Event>& events);

}  // namespace dts::run
