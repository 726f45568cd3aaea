// SPDX-License-Identifier: Apache-2.0
// The default names of jobs, and of their steps and roles. Pure.
#pragma once

#include <string>
#include <vector>

namespace dts::plan {

// The name of the program that `command` finally runs, without folder and suffix: "train" for `uv
// run torchrun --nproc_per_node 8 src/train.py`, "dttrain" without a command. Valid for Slurm and
// as a folder name, at most 64 bytes.
[[nodiscard]] std::string default_job_name(const std::vector<std::string>& command);

// `job_name`, unless it is "bash" or "interactive", which get the ending "-job": Lightning ignores
// Slurm in jobs of these names (lightning/fabric/plugins/environments/slurm.py).
[[nodiscard]] std::string not_interactive(std::string job_name);

}  // namespace dts::plan
