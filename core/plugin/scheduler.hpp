// SPDX-License-Identifier: Apache-2.0
// A sched::Scheduler implemented by a plug-in.
#pragma once

#include "core/sched/scheduler.hpp"

#include <memory>
#include <string>

namespace dts::plugin {

// The plug-in that DTSUBMIT_SCHEDULER names; empty: load_scheduler() chooses.
[[nodiscard]] std::string scheduler_name();

// Loads the scheduler plug-in `name` and reads the scheduler's configuration, so that problems
// appear here and not at the first call. The object is thread-safe, and its calls run concurrently.
// Errors: those of load_plugin(); unreachable if the scheduler has no configuration here.
//
// Without a name, takes "slurm", which uses libslurm. If that cannot be used, because libslurm is
// missing or the controller does not speak its release's protocol, takes "slurm-commands". The
// latter reason may only appear at the first query; an order is not repeated in the other way.
// Scheduler::access() says which plug-in is used and why.
//
// A scheduler's library may end the process if its configuration is broken (libslurm does, with
// exit code 4 and a message from our plug-in). A process that must not end that way, such as the
// agent of a job, requests a `probe`: then a child process tries first, which costs some 3 ms.
[[nodiscard]] Result<std::unique_ptr<sched::Scheduler>> load_scheduler(
    const std::string& name = scheduler_name(), bool probe = false);

// The way that load_scheduler() would take, as far as that is known without a configuration and a
// controller.
[[nodiscard]] Result<sched::Access> scheduler_access(const std::string& name = scheduler_name());

}  // namespace dts::plugin
