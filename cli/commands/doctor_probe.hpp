// SPDX-License-Identifier: Apache-2.0
// `dtsubmit doctor --submit-probe`: a short job that tests what cannot be known from outside.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/doctor/probed.hpp"
#include "core/sched/scheduler.hpp"

#include <chrono>

namespace dts::cli {

// Derives a job from the requested one, with at most two nodes, one rank on each, and another
// program. Submits it, waits at most `patience` for its end, and reports each change on standard
// error. Afterwards, also after a signal to us, neither its job nor its run directory is left. The
// result says what could not be done. Errc::usage for a job of several programs, Errc::interrupted
// after a signal.
[[nodiscard]] Result<doctor::Probed> probe_by_job(sched::Scheduler& scheduler,
                                                  Asked asked,
                                                  std::chrono::seconds patience);

}  // namespace dts::cli
