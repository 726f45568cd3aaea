// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/node_choice.hpp"

#include <algorithm>

namespace dts::launch {
namespace {

using std::chrono::milliseconds;

unsigned demerits(const NodeStanding& node) {
  return (node.suspect ? 4U : 0U) + (node.quarantined ? 2U : 0U) + (node.warned ? 1U : 0U);
}

milliseconds unix_time(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<milliseconds>(time.time_since_epoch());
}

}  // namespace

NodeChoice choose_nodes(const std::vector<NodeStanding>& nodes, unsigned wanted) {
  NodeChoice choice;
  std::vector<const NodeStanding*> usable;
  for (const NodeStanding& node : nodes)
    if (node.away)
      choice.away.push_back(node.node);
    else if (!node.lost.empty())
      choice.unfit.push_back({node.node, node.lost});
    else
      usable.push_back(&node);
  std::stable_sort(usable.begin(), usable.end(), [](const auto* a, const auto* b) {
    return demerits(*a) < demerits(*b);
  });
  if (usable.size() > wanted) {
    for (std::size_t i = wanted; i < usable.size(); ++i) choice.spare.push_back(usable[i]->node);
    usable.resize(wanted);
  }
  std::sort(usable.begin(), usable.end());  // pointers into one array, so in the allocation's order
  for (const NodeStanding* node : usable) choice.used.push_back(node->node);
  return choice;
}

Judged judge_report(NodeStanding standing,
                    const NodeReport& report,
                    const NodeDemand& demand,
                    std::chrono::system_clock::time_point from,
                    std::chrono::system_clock::time_point to) {
  Judged judged{std::move(standing), {}};
  std::vector<Finding> found = judge(report.facts, demand);
  const milliseconds there(report.milliseconds);
  const milliseconds ahead = there > unix_time(to)     ? there - unix_time(to)
                             : there < unix_time(from) ? there - unix_time(from)
                                                       : milliseconds(0);
  if (auto clock = judge_clock(ahead, milliseconds(0))) found.push_back(*std::move(clock));
  NodeVerdict verdict = verdict_on(report.node, found);
  judged.standing.lost = std::move(verdict.unfit);
  judged.standing.warned = verdict.warned;
  judged.notes = std::move(verdict.notes);
  return judged;
}

}  // namespace dts::launch
