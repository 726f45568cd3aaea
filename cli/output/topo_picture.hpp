// SPDX-License-Identifier: Apache-2.0
// Draws a node with characters. Pure.
#pragma once

#include "cli/output/text_block.hpp"
#include "cli/output/topo_scene.hpp"

namespace dts::cli {

// Packages as boxes, containing NUMA nodes with their cores and devices, each marked by its rank.
// Chooses the lowest arrangement at most `columns` (at least 40) wide. If there are many cores, a
// run of cores used in the same way is one entry ("0-15 r3") instead of a cell each.
[[nodiscard]] Block draw(const Scene& scene, std::size_t columns);

// Explains the marks in this scene, in a line or two.
[[nodiscard]] Block legend(const Scene& scene, std::size_t columns);

}  // namespace dts::cli
