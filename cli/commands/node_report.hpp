// SPDX-License-Identifier: Apache-2.0
// Computes which parts of a node ranks would get.
#pragma once

#include "cli/output/topo_report.hpp"
#include "core/base/result.hpp"

#include <string>

namespace dts::cli {

// `machine` is the name of the node for users, `bind` the policy as typed. Binds under each of the
// policies, for comparison. Errors: those of plan::bind_node().
[[nodiscard]] Result<TopoReport> report_node(std::string machine,
                                             std::string bind,
                                             topo::NodeTopology node,
                                             const plan::BindRequest& request);

}  // namespace dts::cli
