// SPDX-License-Identifier: Apache-2.0
// The events that record the end of an attempt and what follows it. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/ledger.hpp"

#include <vector>

namespace dts::run {

// Without the latest checkpoint, which only the run directory shows.
[[nodiscard]] AttemptEnded ended_event(const Outcome& outcome);

// The events that end a run whose agent could not continue: the end of its attempt `own` (0: it
// could not begin one) and a decision for `own`, except those that `before` already has. `latest`:
// the latest attempt in the run directory. `in_scheduler`: see Circumstances. `cause`: the cause,
// unless the disk was full.
[[nodiscard]] std::vector<Event> events_of_failure(const std::vector<Event>& before,
                                                   const Error& failed,
                                                   unsigned own,
                                                   unsigned latest,
                                                   bool in_scheduler,
                                                   Cause cause = Cause::run_damaged);

[[nodiscard]] Decided decided_event(const Decision& decision);

}  // namespace dts::run
