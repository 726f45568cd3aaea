// SPDX-License-Identifier: Apache-2.0
#include "core/plan/cores/flow.hpp"

#include <algorithm>
#include <deque>
#include <limits>

namespace dts::plan {

std::size_t Flow::add(Node from, Node to, std::int64_t capacity, Cost cost) {
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, capacity, cost});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0, -cost});
  return edges_.size() / 2 - 1;
}

std::vector<std::size_t> Flow::cheapest_path(Node source, Node sink) const {
  constexpr Cost k_far = Cost{1} << 126;  // more than any path costs
  std::vector<Cost> distance(edges_of_.size(), k_far);
  std::vector<std::size_t> reached_by(edges_of_.size());
  std::vector<bool> waits(edges_of_.size(), false);
  std::deque<Node> queue{source};
  distance[source] = 0;
  while (!queue.empty()) {
    const Node node = queue.front();
    queue.pop_front();
    waits[node] = false;
    for (const std::size_t number : edges_of_[node]) {
      const Edge& edge = edges_[number];
      if (edge.capacity == 0 || distance[node] + edge.cost >= distance[edge.to]) continue;
      distance[edge.to] = distance[node] + edge.cost;
      reached_by[edge.to] = number;
      if (!waits[edge.to]) queue.push_back(edge.to);
      waits[edge.to] = true;
    }
  }
  std::vector<std::size_t> path;
  if (distance[sink] == k_far) return path;
  for (Node node = sink; node != source; node = edges_[path.back() ^ 1].to)
    path.push_back(reached_by[node]);
  return path;
}

Cost Flow::run(Node source, Node sink) {
  Cost cost = 0;
  for (auto path = cheapest_path(source, sink); !path.empty(); path = cheapest_path(source, sink)) {
    std::int64_t amount = std::numeric_limits<std::int64_t>::max();
    for (const std::size_t edge : path) amount = std::min(amount, edges_[edge].capacity);
    for (const std::size_t edge : path) {
      edges_[edge].capacity -= amount;
      edges_[edge ^ 1].capacity += amount;
      cost += amount * edges_[edge].cost;
    }
  }
  return cost;
}

}  // namespace dts::plan
