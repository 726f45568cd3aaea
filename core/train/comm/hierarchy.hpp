// SPDX-License-Identifier: Apache-2.0
// Which ranks are on which node, and how sums and weights travel because of it. Sums are added up
// within each node as far as the tree over shards allows, so that each crosses between nodes once;
// new weights arrive at each node once and are passed on there. In a flat hierarchy every rank is a
// node of its own. The bits of the result do not depend on it. Pure, thread-safe.
#pragma once

#include "core/train/comm/tree.hpp"

#include <cstddef>
#include <vector>

namespace dts::train {

class Hierarchy {
 public:
  // A flat hierarchy.
  explicit Hierarchy(int ranks);

  // `nodes` has a number for each rank, equal for ranks of the same node. Flat if all ranks are on
  // one node.
  explicit Hierarchy(const std::vector<int>& nodes);

  [[nodiscard]] int ranks() const { return static_cast<int>(node_of_.size()); }

  [[nodiscard]] int nodes() const { return static_cast<int>(ranks_of_.size()); }

  [[nodiscard]] bool is_flat() const { return nodes() == ranks(); }

  [[nodiscard]] int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }

  // In ascending order; at least one.
  [[nodiscard]] const std::vector<int>& ranks_of(int node) const {
    return ranks_of_[static_cast<std::size_t>(node)];
  }

  // The rank of `node` that adds up the sums that this node sends to `owner`, and passes on the
  // weights that come from there. It is the owner itself on its own node; otherwise the ranks of
  // the node share the owners among them.
  [[nodiscard]] int relay(int node, int owner) const;

  // The owners for which `rank` is the relay on its node.
  [[nodiscard]] std::vector<int> relayed_by(int rank) const;

  // The tree nodes whose sums `rank`, or all ranks of `node` together, compute: the maximal nodes
  // of the shards of each run of adjacent ranks.
  [[nodiscard]] std::vector<Span> sums_of_rank(int rank, int shards) const;
  [[nodiscard]] std::vector<Span> sums_of_node(int node, int shards) const;

 private:
  std::vector<int> node_of_;
  std::vector<std::vector<int>> ranks_of_;
};

}  // namespace dts::train
