// SPDX-License-Identifier: Apache-2.0
// Bindings that do not look at GPUs. Pure.
#pragma once

#include "core/plan/binding/binding.hpp"

namespace dts::plan {

// Cores and GPUs under compact, spread, none or map; `cpus` only under map. GPUs are those of the
// request, otherwise runs in PCI order. Precondition: bind_node() has checked the request.
[[nodiscard]] std::vector<RankBinding> bind_by_policy(const topo::NodeTopology& topology,
                                                      const BindRequest& request);

}  // namespace dts::plan
