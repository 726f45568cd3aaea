// SPDX-License-Identifier: Apache-2.0
// `dtsubmit doctor --submit-probe`: a short job that tries what cannot be known from outside.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/doctor/probed.hpp"
#include "core/sched/scheduler.hpp"

#include <chrono>

namespace dts::cli {

// A job like the one that is asked for, with two nodes at most, a rank on each and another program.
// Submits it, waits for its end, at most `patience`, and reports each change on standard error.
// Then, and after a signal of ours, nothing is left of it: no job and no run directory. What it
// cannot do is said in the result. Errc::usage for a job of several programs, Errc::interrupted
// after a signal.
[[nodiscard]] Result<doctor::Probed> probe_by_job(sched::Scheduler& scheduler,
                                                  Asked asked,
                                                  std::chrono::seconds patience);

}  // namespace dts::cli
