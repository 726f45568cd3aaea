// SPDX-License-Identifier: Apache-2.0
// What a run's ledger is told of the end of an attempt, and of what follows. Pure.
#pragma once

#include "core/run/decision.hpp"
#include "core/run/ledger.hpp"

namespace dts::run {

// attempt_ended; without what only the run directory knows, the newest checkpoint.
[[nodiscard]] Event ended_event(const Outcome& outcome);

// decided.
[[nodiscard]] Event decided_event(const Decision& decision);

}  // namespace dts::run
