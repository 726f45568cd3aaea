// SPDX-License-Identifier: Apache-2.0
// A binding in words. Pure.
#pragma once

#include "core/plan/binding/binding.hpp"

namespace dts::plan {

// Fills `reasons` and adds to `warnings` of a binding that is otherwise complete.
void explain(const topo::NodeTopology& topology, const BindRequest& request, NodeBinding& binding);

}  // namespace dts::plan
