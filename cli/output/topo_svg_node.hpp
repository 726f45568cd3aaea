// SPDX-License-Identifier: Apache-2.0
// Draws a node as SVG. Pure.
#pragma once

#include "cli/output/svg.hpp"
#include "cli/output/topo_scene.hpp"

namespace dts::cli {

// Packages as boxes, containing NUMA nodes and L3s, with cores and devices as small boxes marked by
// their ranks. Chooses, among arrangements at most `widest` pixels wide, the one closest to a
// landscape page.
[[nodiscard]] svg::Drawing draw_node(const Scene& scene, int widest);

// CSS classes for what belongs to a rank.
[[nodiscard]] std::string home_kind(unsigned rank);
[[nodiscard]] std::string annex_kind(unsigned rank);

// A box with centred text: one line, and a smaller one below unless it is empty. `ink`: the class
// of the text.
[[nodiscard]] svg::Drawing cell(int width,
                                int height,
                                const std::string& kind,
                                const std::string& ink,
                                const std::string& words,
                                const std::string& below,
                                const std::string& tooltip);

// Classes of a box and of its text.
struct Paint {
  std::string kind, ink;
};

[[nodiscard]] Paint paint_of(const Use& use);

}  // namespace dts::cli
