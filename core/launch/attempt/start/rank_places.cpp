// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/start/rank_places.hpp"

#include "core/base/text/number_list.hpp"
#include "core/launch/attempt/state/exit_code.hpp"
#include "core/topo/json.hpp"
#include "core/topo/restrict.hpp"

#include <fmt/format.h>

namespace dts::launch {
namespace {

tl::unexpected<run::Outcome> wrong_ranks(std::string detail) {
  return tl::unexpected(run::Outcome{run::Cause::wrong_ranks, k_wrong, std::move(detail)});
}

tl::unexpected<run::Outcome> failed_launch(std::string detail) {
  return tl::unexpected(run::Outcome{run::Cause::launch_failed, 1, std::move(detail)});
}

}  // namespace

tl::expected<void, run::Outcome> RankPlaces::verify(
    const std::vector<plan::RankHello>& hellos) const {
  if (const auto verified = plan::verify_ranks(hellos, settings_.plan); !verified)
    return wrong_ranks(verified.error().message);
  for (const auto& [rank, state] : ranks_)
    if (state.hello.worker_port == 0)
      return failed_launch(ranks_.where(rank) +
                           ": none of the ports tried for its own server is free");
  return {};
}

tl::expected<RankPlaces::Topologies, run::Outcome> RankPlaces::read(
    const std::map<unsigned, std::string>& texts) const {
  Topologies topologies;
  if (settings_.topology) topologies[settings_.agent_node] = *settings_.topology;
  for (const auto& [rank, text] : texts) {
    auto topology = topo::from_json(text);
    if (!topology) return failed_launch(ranks_.where(rank) + ": " + topology.error().message);
    topologies[ranks_.at(rank).node()] = std::move(*topology);
  }
  for (const auto& [rank, state] : ranks_)
    if (topologies.count(state.node()) == 0)
      return wrong_ranks(fmt::format("no rank on {} has local rank 0", state.node()));
  return topologies;
}

tl::expected<void, run::Outcome> RankPlaces::place(
    const std::map<unsigned, std::string>& topologies) {
  std::vector<plan::RankHello> hellos;
  for (const auto& [rank, state] : ranks_) hellos.push_back(state.hello.rank);
  if (auto verified = verify(hellos); !verified) return verified;
  auto read_topologies = read(topologies);
  if (!read_topologies) return tl::unexpected(std::move(read_topologies).error());
  Topologies& nodes = *read_topologies;
  for (const auto& [node, topology] : nodes) pci_gpus_[node] = topology.gpus.size();
  for (auto& [node, topology] : nodes) restrict_to_allotment(node, topology);
  const std::string& gpu_type = settings_.spec.gpu_type;
  auto placed = plan::place_ranks(hellos, settings_.plan, nodes, gpu_type);
  if (!placed) return wrong_ranks(placed.error().message);
  for (const auto& [node, gpus] : placed->other_gpus)
    for (const unsigned gpu : gpus)
      other_gpus_[node].push_back(judge_gpu_type(gpu, nodes[node].gpus[gpu], gpu_type));
  placements_ = std::move(placed->ranks);
  for (const plan::Placement& placement : placements_)
    node_cpus_[placement.node].insert(placement.cpus.begin(), placement.cpus.end());
  news_.notes.insert(news_.notes.end(), placed->notes.begin(), placed->notes.end());
  hcas_ = plan::shared_hcas(nodes);
  return {};
}

// If Slurm does not confine jobs to their processors (TaskPlugin=task/none), two jobs that share a
// node would otherwise both use the whole node.
void RankPlaces::restrict_to_allotment(const std::string& node, topo::NodeTopology& topology) {
  const auto found = allotments_.find(node);
  if (found == allotments_.end()) return;
  const std::vector<unsigned> pus = plan::allotted_pus(topology, found->second);
  if (pus.empty()) return;
  news_.notes.push_back(
      fmt::format("binding: {}: only processors {}, which the scheduler gave to the job "
                  "without confining it to them",
                  node,
                  fold_numbers(pus)));
  topology = topo::restrict_to(std::move(topology), pus);
}

std::optional<std::size_t> RankPlaces::pci_gpus(const std::string& node) const {
  const auto found = pci_gpus_.find(node);
  if (found == pci_gpus_.end()) return std::nullopt;
  return found->second;
}

std::vector<Finding> RankPlaces::other_gpus(const std::string& node) const {
  const auto found = other_gpus_.find(node);
  return found == other_gpus_.end() ? std::vector<Finding>() : found->second;
}

PlannedBinding RankPlaces::planned_binding(unsigned rank) const {
  const plan::Placement& placement = placements_.at(rank);
  const auto on_node = node_cpus_.find(placement.node);
  return {placement.cpus,
          placement.memory,
          settings_.plan.gpus_per_node,
          on_node == node_cpus_.end() ? 0U : static_cast<unsigned>(on_node->second.size())};
}

}  // namespace dts::launch
