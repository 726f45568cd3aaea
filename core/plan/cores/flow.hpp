// SPDX-License-Identifier: Apache-2.0
// Maximum flow at minimum cost. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::plan {

// The cost of a unit on an edge. Costs that encode a lexicographic order of criteria are products
// of numbers of cores, ranks and distances, which for a node of 300 cores do not fit 64 bits.
__extension__ using Cost = __int128;

// Minimum-cost maximum flow by successive shortest paths (Ahuja, Magnanti, Orlin: Network Flows,
// 1993, section 9.7), found by queue-based Bellman-Ford, so no cycle may have a negative cost.
// Meant for some hundred edges. Deterministic: the same network gives the same flow.
class Flow {
 public:
  using Node = std::size_t;

  explicit Flow(std::size_t nodes) : edges_of_(nodes) {}

  // Returns the edge's number, for flow().
  std::size_t add(Node from, Node to, std::int64_t capacity, Cost cost);

  // Sends as much as possible from `source` to `sink`; returns the total cost.
  Cost run(Node source, Node sink);

  // The flow through the edge.
  [[nodiscard]] std::int64_t flow(std::size_t edge) const { return edges_[2 * edge + 1].capacity; }

 private:
  struct Edge {
    Node to;
    std::int64_t capacity;  // residual capacity; the reverse edge's is the flow
    Cost cost;
  };

  // The edges of the cheapest path; empty if none is left.
  [[nodiscard]] std::vector<std::size_t> cheapest_path(Node source, Node sink) const;

  std::vector<Edge> edges_;                         // each followed by its reverse edge
  std::vector<std::vector<std::size_t>> edges_of_;  // by node
};

}  // namespace dts::plan
