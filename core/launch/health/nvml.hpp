// SPDX-License-Identifier: Apache-2.0
// The health of a node's GPUs, read from NVML.
#pragma once

#include "core/launch/health/preflight.hpp"
#include "core/topo/nvml/nvml.hpp"

#include <vector>

namespace dts::launch {

// Every GPU that this process may use, as NVML counts them, and those that it can no longer reach.
// Errc::not_found: no library or no driver here, with NVML's or the loader's message. Takes about a
// second for each GPU if the driver is not kept loaded (nvidia-persistenced). Thread-safe.
[[nodiscard]] Result<std::vector<GpuFacts>> ask_nvml(const char* library = topo::Nvml::k_library);

}  // namespace dts::launch
