// SPDX-License-Identifier: Apache-2.0
// The nodes of an allocation from attempt to attempt: which of them run ranks, which are spare and
// which are excluded. Without spares, all are used and none is checked here.
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
  std::vector<std::string> nodes;  // of the allocation
  unsigned wanted = 1;             // for an attempt
  NodeDemand demand;
  std::chrono::seconds preflight{0};  // 0: nodes are not measured
  std::string dtsubmit;               // our own program's path
  run::RunDirectory run;
};

class NodePool {
 public:
  explicit NodePool(NodePoolSettings settings) : settings_(std::move(settings)) {}

  // Chooses nodes for the attempt, whose folder exists. With spares, every node is measured first,
  // and the findings are logged. Unfit nodes are reported once.
  [[nodiscard]] NodeChoice choose(unsigned attempt);

  // True if choose() has measured the nodes: the attempt need not.
  [[nodiscard]] bool measured() const { return measured_; }

  // The end of an attempt for which `choice` has too few nodes.
  [[nodiscard]] run::Outcome too_few(const NodeChoice& choice) const;

  // After an attempt on `used`: remembers what its outcome shows about nodes, and those that the
  // scheduler reports down.
  void remember(const run::Outcome& outcome, const std::vector<std::string>& down);

  // The job's nodes, without those that the scheduler reports down.
  [[nodiscard]] std::vector<std::string> reachable() const;

  // True if enough nodes are left that have not failed yet.
  [[nodiscard]] bool has_spares() const;

 private:
  [[nodiscard]] bool has_any() const { return settings_.nodes.size() > settings_.wanted; }

  [[nodiscard]] std::vector<NodeStanding> standings() const;
  void measure(unsigned attempt, std::vector<NodeStanding>& standings);

  NodePoolSettings settings_;
  std::set<std::string> down_;
  std::set<std::string> suspects_;
  std::set<std::string> told_;  // unfit nodes reported so far
  bool measured_ = false;
};

}  // namespace dts::launch
