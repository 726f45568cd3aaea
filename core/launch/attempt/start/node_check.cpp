// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/start/node_check.hpp"

#include "core/base/text/counted.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t k_most_told = 16;  // named in the outcome's message; the ledger names all

}  // namespace

NodeCheck::Node* NodeCheck::of(unsigned rank) {
  const auto found = nodes_.find(ranks_.at(rank).node());
  return found == nodes_.end() ? nullptr : &found->second;
}

void NodeCheck::on_hello(unsigned rank, Time now) {
  const RankState& state = ranks_.at(rank);
  if (settings_.spec.preflight.count() <= 0 || state.hello.rank.local_rank != 0) return;
  if (nodes_.try_emplace(state.node(), Node{now}).second) ranks_.send(rank, AskClock{});
}

void NodeCheck::on_measured(unsigned rank, const Measured& message, Time now) {
  Node* node = of(rank);
  if (node == nullptr || node->facts) return;
  auto facts = parse_node_facts(message.text);
  if (!facts)
    return ending_.end(
        {run::Cause::launch_failed, 1, ranks_.where(rank) + ": " + facts.error().message}, now);
  node->facts = *std::move(facts);
}

// The node read its clock at some time within the round trip. Assume the middle; the uncertainty is
// half of the round trip.
void NodeCheck::on_clock(unsigned rank, const ClockReading& message, Time now) {
  Node* node = of(rank);
  if (node == nullptr || node->clock_known) return;
  const auto half = (now - node->asked) / 2;
  const auto ours = clock_.wall_at(node->asked + half).time_since_epoch();
  const auto ahead =
      milliseconds(message.milliseconds) - std::chrono::duration_cast<milliseconds>(ours);
  node->clock = judge_clock(ahead, std::chrono::ceil<milliseconds>(half));
  node->clock_known = true;
}

bool NodeCheck::all_answered() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& one) {
    return one.second.facts && one.second.clock_known;
  });
}

std::vector<Finding> NodeCheck::findings_of(const std::string& node) const {
  const Node& check = nodes_.at(node);
  std::vector<Finding> found;
  if (check.facts)
    found = launch::judge(*check.facts,
                          {settings_.run.path,
                           settings_.plan.ntasks_per_node,
                           settings_.plan.gpus_per_node,
                           settings_.spec.memory_mib,
                           places_.pci_gpus(node)});
  else
    found.push_back(too_late());
  if (check.clock) found.push_back(*check.clock);
  for (Finding& finding : places_.other_gpus(node)) found.push_back(std::move(finding));
  return found;
}

// If most nodes are late, the file system is the likely cause, and other nodes would wait for it as
// well.
Finding NodeCheck::too_late() const {
  const auto late = std::count_if(
      nodes_.begin(), nodes_.end(), [](const auto& one) { return !one.second.facts; });
  const bool alone = 2 * static_cast<std::size_t>(late) <= nodes_.size();
  return {alone ? Severity::unfit : Severity::warning,
          false,
          fmt::format("its checks did not end within {} s (--preflight): does the file "
                      "system of {} or its GPU driver hang?",
                      settings_.spec.preflight.count(),
                      settings_.run.path)};
}

bool NodeCheck::judge(Time now) {
  std::map<std::string, NodeVerdict> unfit;
  for (const auto& [node, check] : nodes_) {
    NodeVerdict verdict = verdict_on(node, findings_of(node));
    news_.notes.insert(news_.notes.end(), verdict.notes.begin(), verdict.notes.end());
    if (!verdict.unfit.empty()) unfit.emplace(node, std::move(verdict));
  }
  if (is_the_best_there_is(unfit)) {
    for (const auto& [node, verdict] : unfit)
      news_.notes.push_back(fmt::format("pre-flight, a warning: {}: {}", node, verdict.unfit));
    unfit.clear();
  }
  if (!unfit.empty()) end_unfit(unfit, now);
  return unfit.empty();
}

// True if all nodes have a fault that only some programs fail from, and there is no reason to
// expect better ones. A single node may be the only one, but not if an attempt came before.
bool NodeCheck::is_the_best_there_is(const std::map<std::string, NodeVerdict>& unfit) const {
  return unfit.size() == nodes_.size() && (nodes_.size() > 1 || settings_.number > 1) &&
         std::all_of(
             unfit.begin(), unfit.end(), [](const auto& one) { return one.second.tolerable; });
}

// A fault that all nodes have is not a fault of a single node, nor is a full disk: other nodes
// would have the same problem.
void NodeCheck::end_unfit(const std::map<std::string, NodeVerdict>& unfit, Time now) {
  const bool everywhere = nodes_.size() > 1 && unfit.size() == nodes_.size();
  bool disk = everywhere || nodes_.size() == 1;
  std::vector<run::UnfitNode> nodes;
  std::string detail;
  for (const auto& [node, verdict] : unfit) {
    nodes.push_back({node, verdict.unfit});
    disk = disk && verdict.disk;
    if (nodes.size() <= k_most_told)
      detail +=
          fmt::format("{}{}: {}", detail.empty() ? "pre-flight: " : "; ", node, verdict.unfit);
  }
  if (nodes.size() > k_most_told)
    detail += fmt::format("; and {} more", counted(nodes.size() - k_most_told, "node"));
  if (everywhere) detail += "; this is so on every node of the job";
  run::Outcome outcome{
      disk ? run::Cause::disk_full : run::Cause::launch_failed, 1, std::move(detail)};
  if (!disk && !everywhere) {
    outcome.node = nodes.front().node;
    outcome.unfit = std::move(nodes);
  }
  ending_.override_end(std::move(outcome), now);
}

}  // namespace dts::launch
