// SPDX-License-Identifier: Apache-2.0
// Folds a scene with many packages into a few boxes. Pure.
#pragma once

#include "cli/output/topo_scene.hpp"

namespace dts::cli {

// Up to this many packages get their own box. Virtual machines often have one package per core.
inline constexpr std::size_t k_most_packages = 8;

// If there are more, merges each run of identical packages without devices.
void fold_packages(std::vector<ScenePackage>& packages);

// "NUMA 0  64 GiB", "NUMA 0-31  4.0 GiB each", "NUMA 1  no memory"
[[nodiscard]] std::string title_of(const SceneNuma& numa);

}  // namespace dts::cli
