// SPDX-License-Identifier: Apache-2.0
// How an agent takes the run's next attempt, also after an agent that ended without recording its
// end.
#pragma once

#include "core/run/directory/lease.hpp"
#include "core/run/ledger/history.hpp"

namespace dts::run {

struct TakenAttempt {
  unsigned number = 1;
  FailureRecord record;  // of the previous attempts
};

// Calls take_attempt() with `lease`. If the previous attempt has no recorded end, its agent is
// gone, or is fenced off from now on; its end is added to the ledger as agent_lost. Errors: the
// disk's.
[[nodiscard]] Result<TakenAttempt> take_over(const RunDirectory& run, const Lease& lease);

}  // namespace dts::run
