// SPDX-License-Identifier: Apache-2.0
// What a run's ledger is told of the end of an attempt, and of what follows. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/ledger.hpp"

#include <vector>

namespace dts::run {

// Without what only the run directory knows, the newest checkpoint.
[[nodiscard]] AttemptEnded ended_event(const Outcome& outcome);

// How a run ends whose agent could not go on: the end of its attempt `own` (0: it could not make
// one), unless `before` has that, and a decision, unless `before` has that of `own`. `latest`: the
// newest attempt of the run directory.
[[nodiscard]] std::vector<Event> events_of_failure(const std::vector<Event>& before,
                                                   const Error& failed,
                                                   unsigned own,
                                                   unsigned latest,
                                                   Cause cause = Cause::run_damaged);

[[nodiscard]] Decided decided_event(const Decision& decision);

}  // namespace dts::run
