// SPDX-License-Identifier: Apache-2.0
// How an agent takes the run's next attempt, from one that may have left no word.
#pragma once

#include "core/run/directory/lease.hpp"
#include "core/run/ledger/history.hpp"

namespace dts::run {

struct TakenAttempt {
  unsigned number = 1;
  FailureRecord record;  // of the attempts before
};

// take_attempt() for `lease`. Whoever had the attempt before and left no word of its end is gone,
// or is fenced off from now on: the ledger gets that end, as agent_lost. Errors: of the disk.
[[nodiscard]] Result<TakenAttempt> take_over(const RunDirectory& run, const Lease& lease);

}  // namespace dts::run
