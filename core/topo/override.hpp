// SPDX-License-Identifier: Apache-2.0
// An administrator's corrections to a node's firmware. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <string>
#include <string_view>

namespace dts::topo {

inline constexpr const char* k_override_file = "/etc/dtsubmit/topology";

// The lines of such a file; `#` begins a comment:
//   device NAME numa N    a GPU or adapter, by PCI address or name, is attached to NUMA node N
//                         (OS index)
//   reserve LIST          PUs (OS indices, "0,64") that ranks do not get
// Devices that this node lacks are ignored, so that one file serves several kinds of node. Doubts
// about the firmware are evaluated again. Errc::invalid reports all problems at once
// (FILE:LINE:COLUMN, the line and a caret): unknown words, a missing NUMA node, or no core left
// because all are reserved.
[[nodiscard]] Result<NodeTopology> apply_override(NodeTopology node,
                                                  std::string_view text,
                                                  const std::string& file);

}  // namespace dts::topo
