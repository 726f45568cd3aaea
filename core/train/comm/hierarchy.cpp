// SPDX-License-Identifier: Apache-2.0
#include "core/train/comm/hierarchy.hpp"

#include <algorithm>
#include <numeric>

namespace dts::train {

Hierarchy::Hierarchy(int ranks) : node_of_(static_cast<std::size_t>(ranks)) {
  std::iota(node_of_.begin(), node_of_.end(), 0);
  for (int rank = 0; rank < ranks; ++rank) ranks_of_.push_back({rank});
}

Hierarchy::Hierarchy(const std::vector<int>& nodes) : node_of_(nodes.size()) {
  std::vector<int> keys;  // keys of nodes, ordered by first rank
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const auto known = std::find(keys.begin(), keys.end(), nodes[rank]);
    node_of_[rank] = static_cast<int>(known - keys.begin());
    if (known == keys.end()) {
      keys.push_back(nodes[rank]);
      ranks_of_.emplace_back();
    }
    ranks_of_[static_cast<std::size_t>(node_of_[rank])].push_back(static_cast<int>(rank));
  }
  if (ranks_of_.size() == 1) *this = Hierarchy(ranks());
}

int Hierarchy::relay(int node, int owner) const {
  if (node_of(owner) == node) return owner;
  // `place` counts the owners on other nodes before this one. The second term keeps owners at equal
  // distances, as servers are, from all being assigned to one rank.
  const std::vector<int>& own = ranks_of(node);
  const auto before = std::lower_bound(own.begin(), own.end(), owner) - own.begin();
  const auto place = static_cast<std::size_t>(owner) - static_cast<std::size_t>(before);
  return own[(place + place / own.size()) % own.size()];
}

std::vector<int> Hierarchy::relayed_by(int rank) const {
  std::vector<int> owners;
  for (int owner = 0; owner < ranks(); ++owner)
    if (relay(node_of(rank), owner) == rank) owners.push_back(owner);
  return owners;
}

std::vector<Span> Hierarchy::sums_of_rank(int rank, int shards) const {
  return maximal_nodes(shards, part_of({0, shards}, ranks(), rank));
}

std::vector<Span> Hierarchy::sums_of_node(int node, int shards) const {
  const std::vector<int>& own = ranks_of(node);
  std::vector<Span> all;
  for (auto first = own.begin(); first != own.end();) {
    auto last = first;
    while (last + 1 != own.end() && *(last + 1) == *last + 1) ++last;
    const Span run{part_of({0, shards}, ranks(), *first).lo,
                   part_of({0, shards}, ranks(), *last).hi};
    const std::vector<Span> sums = maximal_nodes(shards, run);
    all.insert(all.end(), sums.begin(), sums.end());
    first = last + 1;
  }
  return all;
}

}  // namespace dts::train
