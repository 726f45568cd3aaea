// SPDX-License-Identifier: Apache-2.0
// The scheduler's record of a run's job, for `list`, `status` and `why`.
#pragma once

#include "cli/output/why.hpp"
#include "core/base/result.hpp"
#include "core/sched/scheduler.hpp"

namespace dts::cli {

// Sets known.job, or known.forgotten if the scheduler no longer knows the job of known.summary.
// Errors: the scheduler did not answer.
[[nodiscard]] Result<void> read_job(sched::Scheduler& scheduler, RunFacts& known);

}  // namespace dts::cli
