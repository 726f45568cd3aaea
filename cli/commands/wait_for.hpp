// SPDX-License-Identifier: Apache-2.0
// --after: resolves the named runs to their run directories and to a Slurm dependency.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/sched/scheduler.hpp"

#include <string>

namespace dts::cli {

// Replaces each run in --after by its directory, and makes the job depend on the runs' latest jobs.
// It is a problem if a run cannot be found, or has already ended differently than required.
void wait_for_others(sched::Scheduler& scheduler, Asked& asked);

}  // namespace dts::cli
