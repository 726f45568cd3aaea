// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node_report.hpp"

#include "cli/output/report.hpp"
#include "core/plan/gpus/gpu_types.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace dts::cli {

std::vector<unsigned> gpus_of_type(const topo::NodeTopology& node, const std::string& type) {
  std::vector<unsigned> gpus(node.gpus.size());
  std::iota(gpus.begin(), gpus.end(), 0U);
  const plan::GpusByType by_type = plan::gpus_by_type(node, type);
  std::erase_if(gpus, [&](unsigned gpu) {
    return std::binary_search(by_type.others.begin(), by_type.others.end(), gpu);
  });
  if (by_type.has_own_name) warn(plan::own_name_warning(node, type));
  return gpus;
}

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
