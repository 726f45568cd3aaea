// SPDX-License-Identifier: Apache-2.0
// Queries Slurm through its commands, for an agent that cannot load the plug-in: enough to learn
// why a job is being stopped and to bring it back. Each call is a process of some 10 ms.
#pragma once

#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace dts::launch {

// Parses one line of `scontrol --oneliner show job`. scontrol shows any job that is ending as
// COMPLETING; the reason and `our_restarts`, the restart count with which this run of the job began
// (SLURM_RESTART_COUNT), resolve that. Times are in the local zone. Errors: Errc::invalid if the
// line describes no job.
[[nodiscard]] Result<sched::JobInfo> parse_job_line(const std::string& line,
                                                    std::uint32_t our_restarts);

// KillWait and the controller's start from `scontrol show config`; a missing value stays 0.
[[nodiscard]] sched::ConfigInfo parse_config_lines(const std::string& text);

// A scheduler that supports job(), config(), nodes(), cancel(), requeue() and exclude();
// Errc::unreachable for the rest. Error if scontrol is not in PATH or does not know job `id`.
[[nodiscard]] Result<std::unique_ptr<sched::Scheduler>> slurm_by_commands(
    sched::JobId id, std::uint32_t our_restarts);

}  // namespace dts::launch
