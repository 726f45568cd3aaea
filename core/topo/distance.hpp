// SPDX-License-Identifier: Apache-2.0
// How far a core is from a GPU. Pure.
#pragma once

#include "core/topo/topology.hpp"

namespace dts::topo {

inline constexpr unsigned k_same_numa = 1;
inline constexpr unsigned k_same_package = 2;
inline constexpr unsigned k_other_package = 3;

// 0 where the core is in the part of the node that the GPU hangs from, else one of the above. The
// order is what matters; on a two-socket node the steps are about those of the transfer rates to
// and from the GPU.
[[nodiscard]] unsigned distance(const Core& core, const Gpu& gpu);

}  // namespace dts::topo
