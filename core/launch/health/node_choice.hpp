// SPDX-License-Identifier: Apache-2.0
// Chooses the nodes of an allocation with spares for the next attempt. Pure, thread-safe.
#pragma once

#include "core/launch/health/preflight.hpp"
#include "core/run/ledger/decision.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// What is known about one node of the allocation.
struct NodeStanding {
  std::string node;
  std::string lost{};        // why it is unfit, according to its pre-flight check
  bool away = false;         // the scheduler reports it down, or it is silent
  bool suspect = false;      // it failed an attempt of this job
  bool quarantined = false;  // it failed an attempt of another run
  bool warned = false;       // its pre-flight check has warnings
};

struct NodeChoice {
  std::vector<std::string> used;      // in the allocation's order; fewer than wanted: too few
  std::vector<std::string> spare;     // usable but not needed
  std::vector<run::UnfitNode> unfit;  // according to their pre-flight check
  std::vector<std::string> away;      // down or silent
};

// Chooses the `wanted` best nodes: healthy ones first, then those with a warning, then those in
// quarantine, then suspects. Among equals, the allocation's order decides, so the choice stays the
// same from attempt to attempt.
[[nodiscard]] NodeChoice choose_nodes(const std::vector<NodeStanding>& nodes, unsigned wanted);

// What a node reports in the step that measures all nodes before some are chosen.
struct NodeReport {
  std::string node;
  std::int64_t milliseconds = 0;  // Unix time on the node
  NodeFacts facts;
};

// to_text() yields one line; parse_node_report() yields Errc::invalid for anything else.
[[nodiscard]] std::string to_text(const NodeReport& report);
[[nodiscard]] Result<NodeReport> parse_node_report(std::string_view line);

// Updates `standing` with the node's report, and makes texts for the log. A clock that shows a time
// outside [from, to] is wrong by at least the distance to that interval.
struct Judged {
  NodeStanding standing;
  std::vector<std::string> notes;
};

[[nodiscard]] Judged judge_report(NodeStanding standing,
                                  const NodeReport& report,
                                  const NodeDemand& demand,
                                  std::chrono::system_clock::time_point from,
                                  std::chrono::system_clock::time_point to);

}  // namespace dts::launch
