// SPDX-License-Identifier: Apache-2.0
// A prepared job as the request to the scheduler.
#pragma once

#include "cli/commands/prepare.hpp"
#include "core/sched/scheduler.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// The same request as the script's #SBATCH lines make (a test compares both in a real Slurm).
[[nodiscard]] sched::Submission make_submission(const Prepared& prepared,
                                                std::vector<std::string> environment);

// Errc::invalid where the site gives a meaning of its own to an exit code of ours: a job that says
// "saved, run me again" (85) or "do not restart" (93) would be requeued or held behind our back.
[[nodiscard]] Result<void> check_exit_codes(sched::Scheduler& scheduler);

}  // namespace dts::cli
