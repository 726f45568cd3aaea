// SPDX-License-Identifier: Apache-2.0
// A program that does not find a GPU: its own mistake, a GPU that its node has lost, or one that
// its rank was not shown.
#pragma once

#include "core/run/directory/run_directory.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/ledger.hpp"

#include <vector>

namespace dts::run {

// True if an ended attempt since the last `dtsubmit requeue` has saved or made a step.
[[nodiscard]] bool has_worked(const std::vector<Event>& events);

// True if an attempt ended with Cause::gpu_unseen.
[[nodiscard]] bool has_missed_gpus(const std::vector<Event>& events);

// `outcome` as the failure of a GPU, if its program does not find one that it had before. `works`:
// it has saved or made a step in this attempt; for earlier ones, the run's ledger is read. A
// program that has shown neither may never have been right, and the checks of its node before it
// started have found nothing: that is its own mistake, unless the next attempt may show it all GPUs
// of its node (`may_see_more`), and it took one by a number that its rank did not see.
[[nodiscard]] Outcome settle_unseen_gpu(Outcome outcome,
                                        const RunDirectory& run,
                                        bool works,
                                        bool may_see_more);

}  // namespace dts::run
