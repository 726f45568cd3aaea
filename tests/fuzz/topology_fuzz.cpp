// SPDX-License-Identifier: Apache-2.0
// Topologies from the network: what is read is written back the same, and can be planned on.
#include "core/plan/binding/binding.hpp"
#include "core/topo/json.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  const auto node = dts::topo::from_json(input);
  if (!node) return;
  const std::string text = dts::topo::to_json(*node);
  const auto back = dts::topo::from_json(text);
  must(back && dts::topo::to_json(*back) == text);
  if (node->cores.size() > 64 || node->gpus.size() > 16) return;  // large ones take their time
  for (const char* policy : {"auto", "compact", "spread", "none"})
    for (const unsigned ranks : {1U, 3U, 8U}) {
      dts::plan::BindRequest request = dts::plan::request_of(*dts::spec::parse_bind(policy));
      request.ranks = ranks;
      for (unsigned gpu = 0; gpu < node->gpus.size(); ++gpu) request.gpus.push_back(gpu);
      const auto binding = dts::plan::bind_node(*node, request);
      must(binding.has_value() != node->cores.empty());
      if (!binding) continue;
      must(binding->ranks.size() == ranks);
      for (const auto& rank : binding->ranks) must(!rank.cpus.empty());
    }
}
