// SPDX-License-Identifier: Apache-2.0
// The part of a node that one of several roles on it gets. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

#include <cstddef>
#include <vector>

namespace dts::plan {

// Positions in the list of a job's GPUs on a node.
struct GpuRun {
  std::size_t first = 0;
  std::size_t end = 0;  // exclusive
};

// The GPUs of role `role`: each role gets those that follow the GPUs of the role before it.
[[nodiscard]] GpuRun gpus_of_role(const SharedNodes& shared, std::size_t role);

// `node` with the cores of the plan's own role only; `gpus` are the job's, indices into
// NodeTopology::gpus in the order of the node's list, as far as they are known. Each core belongs
// to one role, and their numbers are in proportion to the CPUs of the roles. First each GPU gets
// the same number of cores, by bind_node(); then roles with GPUs choose what they lack, in order,
// and then those without. On a node with fewer cores than roles, all of them use every core.
// Errors: those of bind_node().
[[nodiscard]] Result<topo::NodeTopology> share_of_node(const topo::NodeTopology& node,
                                                       const SharedNodes& shared,
                                                       const std::vector<unsigned>& gpus);

}  // namespace dts::plan
