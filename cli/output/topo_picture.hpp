// SPDX-License-Identifier: Apache-2.0
// A node drawn with characters. Pure.
#pragma once

#include "cli/output/text_block.hpp"
#include "cli/output/topo_scene.hpp"

namespace dts::cli {

// Packages as boxes, NUMA nodes in them with their cores and devices, each marked by its rank. Of
// the arrangements that are at most `columns` wide (40 at least) the lowest. Where cores are many,
// runs of those that are used alike are one entry ("0-15 r3") instead of a cell each.
[[nodiscard]] Block draw(const Scene& scene, std::size_t columns);

// What the marks mean of those that are in this scene: a line or two.
[[nodiscard]] Block legend(const Scene& scene, std::size_t columns);

}  // namespace dts::cli
