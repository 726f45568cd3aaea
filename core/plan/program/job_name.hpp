// SPDX-License-Identifier: Apache-2.0
// What a job is called where nobody says it. Pure.
#pragma once

#include <string>
#include <vector>

namespace dts::plan {

// The name of the program that `command` runs in the end, without its folder and its suffix:
// "train" of `uv run torchrun --nproc_per_node 8 src/train.py`, "dttrain" without a command. One
// that Slurm and a folder accept, at most 64 bytes.
[[nodiscard]] std::string default_job_name(const std::vector<std::string>& command);

}  // namespace dts::plan
