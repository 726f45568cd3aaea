// SPDX-License-Identifier: Apache-2.0
// Which ranks are on which node, and the way that sums and weights take because of it: sums are
// added up within each node as far as the tree over shards allows, and what is left goes across
// once a node; new weights come to each node once and are handed on there. Flat, every rank is a
// node of its own. Bits do not depend on it. Pure, thread-safe.
#pragma once

#include "core/train/comm/tree.hpp"

#include <cstddef>
#include <vector>

namespace dts::train {

class Hierarchy {
 public:
  // Flat.
  explicit Hierarchy(int ranks);

  // By rank, a number that the ranks of one node have in common. Flat if they are all on one node.
  explicit Hierarchy(const std::vector<int>& nodes);

  [[nodiscard]] int ranks() const { return static_cast<int>(node_of_.size()); }

  [[nodiscard]] int nodes() const { return static_cast<int>(ranks_of_.size()); }

  [[nodiscard]] bool is_flat() const { return nodes() == ranks(); }

  [[nodiscard]] int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }

  // In order, at least one.
  [[nodiscard]] const std::vector<int>& ranks_of(int node) const {
    return ranks_of_[static_cast<std::size_t>(node)];
  }

  // The rank of `node` that adds up what this node sends to `owner`, and hands on what comes from
  // there: the owner itself on its own node; otherwise every rank of the node has its share of the
  // owners.
  [[nodiscard]] int relay(int node, int owner) const;

  // The owners whose relay `rank` is, on its node.
  [[nodiscard]] std::vector<int> relayed_by(int rank) const;

  // The tree nodes of which `rank`, or all ranks of `node` together, have the sums: of each run of
  // adjacent ranks the maximal ones of the shards that they compute.
  [[nodiscard]] std::vector<Span> sums_of_rank(int rank, int shards) const;
  [[nodiscard]] std::vector<Span> sums_of_node(int node, int shards) const;

 private:
  std::vector<int> node_of_;
  std::vector<std::vector<int>> ranks_of_;
};

}  // namespace dts::train
