// SPDX-License-Identifier: Apache-2.0
#include "core/plan/binding/rank_links.hpp"

#include <algorithm>
#include <map>

namespace dts::plan {

std::vector<std::vector<RankLink>> rank_links(const topo::NodeTopology& node,
                                              const std::vector<std::vector<unsigned>>& gpus_of) {
  std::vector<std::vector<unsigned>> ranks_of(node.gpus.size());  // by GPU
  for (unsigned rank = 0; rank < gpus_of.size(); ++rank)
    for (const unsigned gpu : gpus_of[rank]) ranks_of[gpu].push_back(rank);
  std::vector<std::map<unsigned, unsigned>> best(gpus_of.size());  // weight by other rank
  for (const topo::GpuLink& link : node.links)
    for (const unsigned a : ranks_of[link.a])
      for (const unsigned b : ranks_of[link.b]) {
        if (a == b) continue;
        for (unsigned* weight : {&best[a][b], &best[b][a]})
          *weight = std::max(*weight, link.weight);
      }
  std::vector<std::vector<RankLink>> links(gpus_of.size());
  for (std::size_t rank = 0; rank < links.size(); ++rank)
    for (const auto& [other, weight] : best[rank]) links[rank].push_back({other, weight});
  return links;
}

}  // namespace dts::plan
