// SPDX-License-Identifier: Apache-2.0
// Steps of our own in a Slurm job, in addition to that of the ranks. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

enum class GpuUse { none, all };

// srun, and which component of a heterogeneous job it is for: by itself it uses the first.
[[nodiscard]] std::vector<std::string> srun_of(std::optional<unsigned> component);

// A step of one process on each of `nodes`, beside whatever runs there, with none of the job's GPUs
// or all of them.
[[nodiscard]] std::vector<std::string> check_command(
    const std::vector<std::string>& nodes,
    GpuUse gpus,
    const std::vector<std::string>& measure,
    std::optional<unsigned> component = std::nullopt);

// A step of one process that only waits for the SIGTERM that starts a preemption's grace time:
// Slurm sends it to steps only, and a job on one node under mpirun has none.
[[nodiscard]] std::vector<std::string> sentinel_command(
    const std::string& dtsubmit, std::optional<unsigned> component = std::nullopt);

}  // namespace dts::launch
