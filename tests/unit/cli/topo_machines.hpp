// SPDX-License-Identifier: Apache-2.0
// Machines to draw: made ones of every size, and the recorded ones where they are.
#pragma once

#include "cli/output/topo_report.hpp"

#include <functional>
#include <string>

namespace dts::tests {

// Calls `check` with each machine under `auto` with several numbers of ranks, and once under
// `none`; how often. doctest's CAPTURE says which.
unsigned each_machine(const std::function<void(const cli::TopoReport&)>& check);

// package:2 numa:2 l3:2 core:2 pu:2 with a GPU in NUMA 0, one at package 1 and one at no package;
// an adapter in NUMA 3; core 1 closed; NUMA 4 without cores. Two ranks.
cli::TopoReport small_machine();

}  // namespace dts::tests
