// SPDX-License-Identifier: Apache-2.0
// A machine's topology, loaded with hwloc in a process of its own.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <string>
#include <string_view>

namespace dts::topo {

// Between an error's message and its hint, as dtsubmit-topology writes them.
inline constexpr std::string_view k_hint_mark = "\nhint: ";

// Runs dtsubmit-topology, which lies next to the plug-ins; it inherits the caller's cores. Takes
// about 10 ms, at most 30 s. Errc::not_found if it is not installed. Thread-safe.
[[nodiscard]] Result<NodeTopology> discover();

// The machine that `lstopo --of xml` recorded in `path`, all of its processors. Errc::not_found,
// Errc::invalid where it is no such file. Thread-safe.
[[nodiscard]] Result<NodeTopology> read_topology(const std::string& path);

}  // namespace dts::topo
