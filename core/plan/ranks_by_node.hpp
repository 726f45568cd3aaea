// SPDX-License-Identifier: Apache-2.0
// Groups the ranks of a job by node. Private to core/plan.
#pragma once

#include "core/plan/plan.hpp"

#include <map>

namespace dts::plan {

using NodeRanks = std::vector<const RankHello*>;  // of one node, in the launcher's order

// The ranks by node name. The pointers refer to `hellos`.
[[nodiscard]] std::map<std::string, NodeRanks> ranks_by_node(const std::vector<RankHello>& hellos);

}  // namespace dts::plan
