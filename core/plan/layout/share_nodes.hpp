// SPDX-License-Identifier: Apache-2.0
// Roles that share nodes (`beside`): what each of them gets of a node. Pure.
#pragma once

#include "core/plan/plan.hpp"
#include "core/spec/job_spec.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace dts::plan {

// The plan of a job's part, given its spec and what there is of the cluster for it.
using PlanPart =
    std::function<Plan(std::size_t part, const spec::JobSpec& job, const ClusterView& cluster)>;

// The spec to plan a part by. A role that shares nodes has one rank per GPU, or one: as many as its
// number of CPUs allows would fill the node.
[[nodiscard]] spec::JobSpec spec_of_part(const spec::JobSpec& spec, std::size_t part);

// Sets Plan::shared of the roles that share nodes. `parts` have been planned as if they had their
// nodes to themselves. A role that requests CPUs gets these. Those that do not are planned again,
// with a part of the other CPUs in proportion to their GPUs, or to their ranks if these are more.
// Reports roles of a node that want GPUs of different types.
void share_nodes(const spec::JobSpec& spec,
                 const ClusterView& cluster,
                 const PlanPart& plan_part,
                 std::vector<Plan>& parts,
                 Diagnostics& problems);

}  // namespace dts::plan
