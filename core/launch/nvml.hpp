// SPDX-License-Identifier: Apache-2.0
// The NVIDIA Management Library, where a node has one: loaded when asked, never linked.
#pragma once

#include "core/launch/preflight.hpp"

#include <vector>

namespace dts::launch {

// Every GPU that this process may use, as NVML counts them, and those that it cannot reach any
// more. Errc::not_found: no library or no driver here, with NVML's or the loader's words. Takes
// about a second a GPU where the driver is not kept loaded (nvidia-persistenced). Thread-safe.
[[nodiscard]] Result<std::vector<GpuFacts>> ask_nvml(const char* library = "libnvidia-ml.so.1");

}  // namespace dts::launch
