// SPDX-License-Identifier: Apache-2.0
// The health of a node's GPUs, read from NVML.
#pragma once

#include "core/launch/health/preflight.hpp"
#include "core/topo/nvml/nvml.hpp"

#include <vector>

namespace dts::launch {

// Returns all GPUs that this process may use, in NVML's order, including those that it can no
// longer reach. Errc::not_found, with NVML's or the loader's message, if the library or the driver
// is missing. Takes about a second per GPU unless the driver is kept loaded (nvidia-persistenced).
// Thread-safe.
[[nodiscard]] Result<std::vector<GpuFacts>> ask_nvml(const char* library = topo::Nvml::k_library);

}  // namespace dts::launch
