// SPDX-License-Identifier: Apache-2.0
// Binding policies that do not take GPUs into account. Pure.
#pragma once

#include "core/plan/binding/binding.hpp"

namespace dts::plan {

// Assigns cores and GPUs under compact, spread, none or map; sets `cpus` only under map. GPUs are
// those of the request, otherwise runs in PCI order. Precondition: bind_node() has checked the
// request.
[[nodiscard]] std::vector<RankBinding> bind_by_policy(const topo::NodeTopology& topology,
                                                      const BindRequest& request);

}  // namespace dts::plan
