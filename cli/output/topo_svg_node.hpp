// SPDX-License-Identifier: Apache-2.0
// A node drawn for SVG. Pure.
#pragma once

#include "cli/output/svg.hpp"
#include "cli/output/topo_scene.hpp"

namespace dts::cli {

// Packages as boxes, NUMA nodes and L3s in them, cores and devices as small boxes with the mark of
// their ranks. Of the arrangements that are at most `widest` pixels wide the one that is nearest to
// a page on its side.
[[nodiscard]] svg::Drawing draw_node(const Scene& scene, int widest);

// The style sheet's classes for what a rank has.
[[nodiscard]] std::string home_kind(unsigned rank);
[[nodiscard]] std::string annex_kind(unsigned rank);

// A box with words in its middle: a line, and below it a small one unless that is empty. `ink`: the
// class of the words.
[[nodiscard]] svg::Drawing cell(int width,
                                int height,
                                const std::string& kind,
                                const std::string& ink,
                                const std::string& words,
                                const std::string& below,
                                const std::string& tooltip);

// Classes of a box and of the letters in it.
struct Paint {
  std::string kind, ink;
};

[[nodiscard]] Paint paint_of(const Use& use);

}  // namespace dts::cli
