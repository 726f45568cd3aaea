// SPDX-License-Identifier: Apache-2.0
// The ranks of each node of a job. Private to core/plan.
#pragma once

#include "core/plan/plan.hpp"

#include <map>

namespace dts::plan {

using NodeRanks = std::vector<const RankHello*>;  // of one node, in the launcher's order

// By node name. The pointers are into `hellos`.
[[nodiscard]] std::map<std::string, NodeRanks> ranks_by_node(const std::vector<RankHello>& hellos);

}  // namespace dts::plan
