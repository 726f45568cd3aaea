// SPDX-License-Identifier: Apache-2.0
// The nodes of an allocation over its attempts: which of them run ranks, which are spare and which
// are excluded. Without spares, all nodes are used, and none is checked here.
#pragma once

#include "core/launch/health/node_choice.hpp"
#include "core/plan/plan.hpp"
#include "core/run/directory/run_directory.hpp"

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace dts::launch {

struct NodePoolSettings {
  std::vector<std::string> nodes;  // all nodes of the allocation
  unsigned wanted = 1;             // number of nodes that an attempt needs
  NodeDemand demand;
  std::chrono::seconds preflight{0};  // 0: nodes are not measured
  std::string dtsubmit;               // path of our own program
  run::RunDirectory run;
};

class NodePool {
 public:
  explicit NodePool(NodePoolSettings settings) : settings_(std::move(settings)) {}

  // Chooses nodes for the attempt, whose folder must exist. With spares, measures every node first
  // and logs the findings. Reports each unfit node once.
  [[nodiscard]] NodeChoice choose(unsigned attempt);

  // True if choose() has measured the nodes, so that the attempt need not.
  [[nodiscard]] bool measured() const { return measured_; }

  // The outcome of an attempt for which `choice` has too few nodes.
  [[nodiscard]] run::Outcome too_few(const NodeChoice& choice) const;

  // Remembers what the outcome of an attempt shows about its nodes, and `down`, the nodes that the
  // scheduler reports down.
  void remember(const run::Outcome& outcome, const std::vector<std::string>& down);

  // The job's nodes, except those that the scheduler reports down.
  [[nodiscard]] std::vector<std::string> reachable() const;

  // True if there are enough nodes that have not failed yet.
  [[nodiscard]] bool has_spares() const;

 private:
  [[nodiscard]] bool has_any() const { return settings_.nodes.size() > settings_.wanted; }

  [[nodiscard]] std::vector<NodeStanding> standings() const;
  void measure(unsigned attempt, std::vector<NodeStanding>& standings);

  NodePoolSettings settings_;
  std::set<std::string> down_;
  std::set<std::string> suspects_;
  std::set<std::string> reported_;  // unfit nodes that have been reported
  bool measured_ = false;
};

}  // namespace dts::launch
