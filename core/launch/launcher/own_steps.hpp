// SPDX-License-Identifier: Apache-2.0
// Steps of our own in a Slurm job, besides the ranks' step. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

enum class GpuUse { none, all };

// srun with the option for a component of a heterogeneous job: by default srun uses the first.
[[nodiscard]] std::vector<std::string> srun_of(std::optional<unsigned> component);

// A step with one process on each of `nodes`, which shares the nodes with any other steps and gets
// either none or all of the job's GPUs.
[[nodiscard]] std::vector<std::string> check_command(
    const std::vector<std::string>& nodes,
    GpuUse gpus,
    const std::vector<std::string>& measure,
    std::optional<unsigned> component = std::nullopt);

// A step whose single process only waits for the SIGTERM that begins a preemption's grace time.
// Slurm signals only steps, and under mpirun a job on one node has no step.
[[nodiscard]] std::vector<std::string> sentinel_command(
    const std::string& dtsubmit, std::optional<unsigned> component = std::nullopt);

}  // namespace dts::launch
