// SPDX-License-Identifier: Apache-2.0
// A scene with many packages, in a few boxes. Pure.
#pragma once

#include "cli/output/topo_scene.hpp"

namespace dts::cli {

// Up to so many packages have a box each. Virtual machines often have one for each of their cores.
inline constexpr std::size_t k_most_packages = 8;

// If there are more, each run of identical ones without devices becomes one.
void fold_packages(std::vector<ScenePackage>& packages);

// "NUMA 0  64 GiB", "NUMA 0-31  4.0 GiB each", "NUMA 1  no memory"
[[nodiscard]] std::string title_of(const SceneNuma& numa);

}  // namespace dts::cli
