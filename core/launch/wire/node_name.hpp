// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/os/environment.hpp"

#include <string>

namespace dts::launch {

// The node's name: SLURMD_NODENAME, which slurmd sets on the node itself, or `host` if it is unset.
[[nodiscard]] std::string node_name(const Lookup& lookup, const std::string& host);

}  // namespace dts::launch
