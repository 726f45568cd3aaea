// SPDX-License-Identifier: Apache-2.0
// The default name of a job. Pure.
#pragma once

#include <string>
#include <vector>

namespace dts::plan {

// The name of the program that `command` finally runs, without folder and suffix: "train" for `uv
// run torchrun --nproc_per_node 8 src/train.py`, "dttrain" without a command. Valid for Slurm and
// as a folder name, at most 64 bytes. Never "bash" or "interactive": Lightning ignores Slurm in
// jobs of these names (lightning/fabric/plugins/environments/slurm.py).
[[nodiscard]] std::string default_job_name(const std::vector<std::string>& command);

}  // namespace dts::plan
