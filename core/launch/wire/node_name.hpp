// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/os/environment.hpp"

#include <string>

namespace dts::launch {

// The node's name: SLURMD_NODENAME, which slurmd sets on the node itself; `host` if it is not set.
[[nodiscard]] std::string node_name(const Lookup& lookup, const std::string& host);

}  // namespace dts::launch
