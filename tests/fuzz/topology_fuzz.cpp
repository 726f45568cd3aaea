// SPDX-License-Identifier: Apache-2.0
// Topologies from the network: what is read is written back the same, and can be planned on.
#include "core/plan/plan.hpp"
#include "core/topo/json.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  const auto node = dts::topo::from_json(input);
  if (!node) return;
  const std::string text = dts::topo::to_json(*node);
  const auto back = dts::topo::from_json(text);
  must(back && dts::topo::to_json(*back) == text);
  dts::plan::Plan plan;
  plan.ntasks_per_node = plan.world_size = 3;
  const auto placed = dts::plan::place_ranks(
      {{0, 3, 0, "n", {}}, {1, 3, 1, "n", {}}, {2, 3, 2, "n", {}}}, plan, {{"n", *node}});
  must(placed.size() == 3);
  for (const auto& placement : placed) must(placement.cpus.empty() == node->cores.empty());
}
