// SPDX-License-Identifier: Apache-2.0
// Assigns ranks to cores, GPUs and adapters: place_ranks().
#include "core/base/text/alike.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/plan/binding/node_placement.hpp"
#include "core/plan/ranks_by_node.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dts::plan {
namespace {

using Names = std::vector<std::string>;

// One line per message, which names all nodes that have it.
std::vector<std::string> fold(const std::vector<std::pair<std::string, Names>>& notes_of_nodes) {
  const auto groups =
      group_alike(notes_of_nodes.size(), [&](std::size_t i) { return notes_of_nodes[i].second; });
  std::vector<std::string> lines;
  for (const auto& [notes, members] : groups) {
    Names nodes;
    for (const std::size_t i : members) nodes.push_back(notes_of_nodes[i].first);
    for (const std::string& note : notes)
      lines.push_back(groups.size() == 1 ? note : note + " (" + fold_hostlist(nodes) + ")");
  }
  return lines;
}

void number_nodes(std::vector<Placement>& placements) {
  std::map<std::string, unsigned> node_ranks;
  for (Placement& placement : placements)
    placement.node_rank =
        node_ranks.try_emplace(placement.node, static_cast<unsigned>(node_ranks.size()))
            .first->second;
}

}  // namespace

Result<PlacedRanks> place_ranks(const std::vector<RankHello>& hellos,
                                const Plan& plan,
                                const std::map<std::string, topo::NodeTopology>& topologies,
                                const std::string& gpu_type) {
  PlacedRanks placed;
  std::vector<std::pair<std::string, Names>> notes;
  for (const auto& [name, ranks] : ranks_by_node(hellos)) {
    const auto topology = topologies.find(name);
    NodePlacement node(
        ranks, plan, topology != topologies.end() ? &topology->second : nullptr, gpu_type);
    if (auto bound = node.bind(plan); !bound) {
      bound.error().message = name + ": " + bound.error().message;
      return tl::unexpected(std::move(bound.error()));
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      Placement placement;
      placement.rank = ranks[i]->rank;
      placement.local_rank = static_cast<unsigned>(i);
      placement.local_world_size = static_cast<unsigned>(ranks.size());
      placement.node = name;
      node.fill(i, placement);
      placed.ranks.push_back(std::move(placement));
    }
    notes.emplace_back(name, node.notes());
    if (!node.other_gpus().empty()) placed.other_gpus[name] = node.other_gpus();
  }
  std::sort(placed.ranks.begin(), placed.ranks.end(), [](const Placement& a, const Placement& b) {
    return a.rank < b.rank;
  });
  number_nodes(placed.ranks);
  placed.notes = fold(notes);
  return placed;
}

}  // namespace dts::plan
