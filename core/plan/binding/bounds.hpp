// SPDX-License-Identifier: Apache-2.0
// Bounds for the scores of a binding, known before there is a binding. Pure. Private to
// core/plan/binding.
#pragma once

#include "core/plan/cores/node_binding.hpp"
#include "core/plan/gpus/gpu_groups.hpp"
#include "core/topo/topology.hpp"

namespace dts::plan {

// Bounds that no binding can exceed, for the scores that do not depend on the choice of GPUs.
[[nodiscard]] BindingScore plain_bound(const topo::NodeTopology& node, const BindRequest& request);

// A lower bound on the worst distance: no assignment brings a GPU nearer to its nearest core.
[[nodiscard]] unsigned least_worst_distance(const topo::NodeTopology& node,
                                            const GpuChoices& choices);

}  // namespace dts::plan
