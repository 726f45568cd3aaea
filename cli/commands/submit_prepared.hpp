// SPDX-License-Identifier: Apache-2.0
// The last step of a submission: a run directory and its job, or neither.
#pragma once

#include "cli/commands/prepare.hpp"
#include "core/sched/scheduler.hpp"

namespace dts::cli {

// Writes the run directory, submits its job and records that. On an error, neither exists. The
// exception is Errc::unreachable: then it is not known whether the job exists, and the directory is
// kept.
[[nodiscard]] Result<sched::JobId> submit_prepared(sched::Scheduler& scheduler,
                                                   const Prepared& prepared);

}  // namespace dts::cli
