// SPDX-License-Identifier: Apache-2.0
// --after: from the runs that were named to their run directories and Slurm's dependency.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/sched/scheduler.hpp"

#include <string>

namespace dts::cli {

// Replaces each run of --after by its directory, and lets the job wait for their newest jobs. A run
// that has ended in another way than asked for, or that cannot be found, is a problem.
void wait_for_others(sched::Scheduler& scheduler, Asked& asked);

}  // namespace dts::cli
