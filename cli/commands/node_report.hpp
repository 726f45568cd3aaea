// SPDX-License-Identifier: Apache-2.0
// Computes which parts of a node ranks would get.
#pragma once

#include "cli/output/topo_report.hpp"
#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// The GPUs that count as of this type (plan::gpus_by_type()), ascending; all of them if `type` is
// empty. Warns if no product has this name, which is then one of the site's own.
[[nodiscard]] std::vector<unsigned> gpus_of_type(const topo::NodeTopology& node,
                                                 const std::string& type);

// `machine` is the name of the node for users, `bind` the policy as typed. Binds under each of the
// policies, for comparison. Errors: those of plan::bind_node().
[[nodiscard]] Result<TopoReport> report_node(std::string machine,
                                             std::string bind,
                                             topo::NodeTopology node,
                                             const plan::BindRequest& request);

}  // namespace dts::cli
