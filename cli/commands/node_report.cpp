// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node_report.hpp"

#include <utility>
#include <vector>

namespace dts::cli {

Result<TopoReport> report_node(std::string machine,
                               std::string bind,
                               topo::NodeTopology node,
                               const plan::BindRequest& request) {
  using plan::BindPolicy;
  TopoReport report;
  report.machine = std::move(machine);
  report.bind = std::move(bind);
  report.policy = to_string(request.policy);
  report.gpus = request.gpus;
  DTS_ASSIGN(report.binding, plan::bind_node(node, request));
  std::vector<BindPolicy> policies{
      BindPolicy::automatic, BindPolicy::compact, BindPolicy::spread, BindPolicy::none};
  if (request.policy == BindPolicy::map) policies.push_back(BindPolicy::map);
  for (const BindPolicy policy : policies) {
    plan::BindRequest other = request;
    other.policy = policy;
    DTS_ASSIGN(const plan::NodeBinding binding, plan::bind_node(node, other));
    report.policies.push_back({to_string(policy), binding.score});
  }
  report.node = std::move(node);
  return report;
}

}  // namespace dts::cli
