// SPDX-License-Identifier: Apache-2.0
// An administrator's corrections to a node's firmware. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <string>
#include <string_view>

namespace dts::topo {

inline constexpr const char* k_override_file = "/etc/dtsubmit/topology";

// Lines of such a file; `#` begins a comment:
//   device NAME numa N    a GPU or adapter by PCI address or name hangs from NUMA node N (OS index)
//   reserve LIST          PUs (OS indices, "0,64") that ranks do not get
// A device that this node has not is passed over, so that one file serves several kinds of node.
// The doubts about the firmware are found anew. Errc::invalid with all problems at once
// (FILE:LINE:COLUMN, the line and a caret): unknown words, a NUMA node that is not there, and that
// every core would be reserved.
[[nodiscard]] Result<NodeTopology> apply_override(NodeTopology node,
                                                  std::string_view text,
                                                  const std::string& file);

}  // namespace dts::topo
