// SPDX-License-Identifier: Apache-2.0
// A machine's topology, which hwloc loads in a separate process.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace dts::topo {

inline constexpr std::string_view k_standard_input = "-";  // as the path of a file

inline constexpr std::uint64_t k_largest_topology = std::uint64_t{64} << 20;  // bytes of a file

// The name of the file `path` for users: the path itself, or "standard input".
[[nodiscard]] std::string name_of(const std::string& path);

// Runs dtsubmit-topology, which is installed next to the plug-ins and inherits the caller's cores.
// Takes about 10 ms, at most 30 s. Errc::not_found if it is not installed. Thread-safe.
[[nodiscard]] Result<NodeTopology> discover();

// The machine that `lstopo --of xml` recorded in `path`, or on standard input, with all of its
// processors. Errc::not_found, Errc::io if the file cannot be read, or Errc::invalid if it is not
// such a file. Thread-safe.
[[nodiscard]] Result<NodeTopology> read_topology(const std::string& path);

}  // namespace dts::topo
