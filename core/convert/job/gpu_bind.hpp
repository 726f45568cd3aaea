// SPDX-License-Identifier: Apache-2.0
// Slurm's --gpu-bind and --tres-bind as --gpu-view: whether each rank of the script sees its own
// GPUs or all of its node. Pure.
#pragma once

#include "core/convert/job/draft.hpp"
#include "core/lint/script/launch.hpp"

#include <string>

namespace dts::convert {

// "node" if that binding leaves all GPUs visible to each rank, otherwise "rank". `value`: of
// --gpu-bind or --tres-bind.
[[nodiscard]] const char* view_of_binding(const std::string& value);

// Sets "gpu-view" if the launcher's options bind GPUs.
void read_gpu_bind(const lint::Launch& launch, Settings& settings);

}  // namespace dts::convert
