// SPDX-License-Identifier: Apache-2.0
// Measures this node for judge().
#pragma once

#include "core/launch/health/preflight.hpp"
#include "core/launch/launcher/own_steps.hpp"

#include <string>

namespace dts::launch {

// Writes and removes a file of 4 KiB in each of `folder`, TMPDIR (by default /tmp) and /dev/shm.
// Blocks as long as the file system does: never call it on a thread that others wait for. NVML is
// queried if GPUs are used. Thread-safe.
[[nodiscard]] NodeFacts measure_node(const std::string& folder, GpuUse gpus);

}  // namespace dts::launch
