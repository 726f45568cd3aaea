// SPDX-License-Identifier: Apache-2.0
// A machine's topology, loaded with hwloc in a separate process.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <string>
#include <string_view>

namespace dts::topo {

// Separates an error's message from its hint in the output of dtsubmit-topology.
inline constexpr std::string_view k_hint_mark = "\nhint: ";

// Runs dtsubmit-topology, which is installed next to the plug-ins and inherits the caller's cores.
// Takes about 10 ms, at most 30 s. Errc::not_found if it is not installed. Thread-safe.
[[nodiscard]] Result<NodeTopology> discover();

// The machine that `lstopo --of xml` recorded in `path`, with all of its processors.
// Errc::not_found, Errc::io if it cannot be read, or Errc::invalid if it is not such a file.
// Thread-safe.
[[nodiscard]] Result<NodeTopology> read_topology(const std::string& path);

}  // namespace dts::topo
