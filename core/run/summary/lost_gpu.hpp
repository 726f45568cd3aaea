// SPDX-License-Identifier: Apache-2.0
// A program that does not find a GPU: its own mistake, or a GPU that its node has lost.
#pragma once

#include "core/run/directory/run_directory.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/ledger.hpp"

#include <vector>

namespace dts::run {

// True if an ended attempt since the last `dtsubmit requeue` has saved or made a step.
[[nodiscard]] bool has_worked(const std::vector<Event>& events);

// `outcome` as the failure of a GPU, if its program does not find one that it had before. `works`:
// it has saved or made a step in this attempt; for earlier ones, the run's ledger is read. A
// program that has shown neither may never have been right, and the checks of its node before it
// started have found nothing.
[[nodiscard]] Outcome settle_unseen_gpu(Outcome outcome, const RunDirectory& run, bool works);

}  // namespace dts::run
