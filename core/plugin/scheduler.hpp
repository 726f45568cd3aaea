// SPDX-License-Identifier: Apache-2.0
// A sched::Scheduler implemented by a plug-in.
#pragma once

#include "core/sched/scheduler.hpp"

#include <memory>
#include <string>

namespace dts::plugin {

// The plug-in that DTSUBMIT_SCHEDULER names, otherwise "slurm".
[[nodiscard]] std::string scheduler_name();

// Loads the scheduler plug-in `name` and reads the scheduler's configuration, so that problems show
// up here and not at the first call. The object is thread-safe and its calls run concurrently.
// Errors: those of load_plugin(); unreachable if the scheduler has no configuration here.
//
// A scheduler's library may end the process if its configuration is broken (libslurm does, with
// exit code 4 and a message by our plug-in). A process that must not end that way, such as the
// agent of a job, requests a `probe`: a child process tries it first, which costs some 3 ms.
[[nodiscard]] Result<std::unique_ptr<sched::Scheduler>> load_scheduler(
    const std::string& name = scheduler_name(), bool probe = false);

}  // namespace dts::plugin
