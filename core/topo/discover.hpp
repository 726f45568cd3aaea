// SPDX-License-Identifier: Apache-2.0
// This machine's topology, as load_live() sees it in a process of its own.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

namespace dts::topo {

// Runs dtsubmit-topology, which lies beside the plug-ins; it inherits the caller's cores. Some 10
// ms, at most 30 s. Errc::not_found where it is not installed. Thread-safe.
[[nodiscard]] Result<NodeTopology> discover();

}  // namespace dts::topo
