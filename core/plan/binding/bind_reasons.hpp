// SPDX-License-Identifier: Apache-2.0
// Explains a binding. Pure.
#pragma once

#include "core/plan/binding/binding.hpp"

namespace dts::plan {

// Fills in `reasons`, and appends to `warnings`, of a binding that is otherwise complete.
void explain(const topo::NodeTopology& topology, const BindRequest& request, NodeBinding& binding);

}  // namespace dts::plan
