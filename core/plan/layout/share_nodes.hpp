// SPDX-License-Identifier: Apache-2.0
// Roles that share nodes (`beside`): what each of them gets of a node. Pure.
#pragma once

#include "core/plan/plan.hpp"
#include "core/spec/job_spec.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace dts::plan {

// The plan of a job on the job's cluster; nullopt if it cannot run there.
using PlanAny = std::function<std::optional<Plan>(const spec::JobSpec& job)>;

// The spec to plan a part by. A role that shares nodes has one rank per GPU, or one: as many as its
// number of CPUs allows would fill the node.
[[nodiscard]] spec::JobSpec spec_of_part(const spec::JobSpec& spec, std::size_t part);

// Sets Plan::shared of the roles that share nodes. `parts` have been planned as if they had their
// nodes to themselves. A role that requests CPUs gets these. The others divide the rest of those
// that a job with all the GPUs gets, in proportion to their GPUs, or to their ranks if these are
// more. Reports roles of a node that want GPUs of different types.
void share_nodes(const spec::JobSpec& spec,
                 const ClusterView& cluster,
                 const PlanAny& plan_any,
                 std::vector<Plan>& parts,
                 Diagnostics& problems);

}  // namespace dts::plan
