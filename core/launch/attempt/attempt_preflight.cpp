// SPDX-License-Identifier: Apache-2.0
// What each node measured of itself while its ranks met: whether programs may start there. No
// program starts before every node has answered or its time is over, so that all that is wrong is
// said at once.
#include "core/launch/attempt/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t k_most_told = 16;  // nodes in the outcome's own words; each has its event

}  // namespace

void Attempt::begin_check(unsigned rank, Time now) {
  if (!checks_.try_emplace(ranks_.at(rank).hello.rank.node, NodeCheck{now}).second) return;
  send(rank, AskClock{});
}

void Attempt::on(unsigned rank, const Measured& message, Time now) {
  const auto check = checks_.find(ranks_.at(rank).hello.rank.node);
  if (check == checks_.end() || check->second.facts) return;
  auto facts = parse_node_facts(message.text);
  if (!facts)
    return end(run::Cause::launch_failed, 1, where(rank) + ": " + facts.error().message, now);
  check->second.facts = *std::move(facts);
  if (phase_ == Phase::checking && all_checked()) judge_nodes(now);
}

// The node read its clock at some moment of the round trip: the middle, give or take a half of it.
void Attempt::on(unsigned rank, const ClockReading& message, Time now) {
  const auto check = checks_.find(ranks_.at(rank).hello.rank.node);
  if (check == checks_.end() || check->second.clock_known) return;
  const auto half = (now - check->second.asked) / 2;
  const auto ours = wall_at(check->second.asked + half).time_since_epoch();
  const auto ahead =
      milliseconds(message.milliseconds) - std::chrono::duration_cast<milliseconds>(ours);
  check->second.clock = judge_clock(ahead, std::chrono::ceil<milliseconds>(half));
  check->second.clock_known = true;
  if (phase_ == Phase::checking && all_checked()) judge_nodes(now);
}

bool Attempt::all_checked() const {
  return std::all_of(checks_.begin(), checks_.end(), [](const auto& one) {
    return one.second.facts && one.second.clock_known;
  });
}

void Attempt::start_when_checked(Time now) {
  if (all_checked()) return judge_nodes(now);
  phase_ = Phase::checking;
  phase_limit_ = now + settings_.preflight;
}

std::vector<Finding> Attempt::findings_of(const std::string& node) const {
  const NodeCheck& check = checks_.at(node);
  std::vector<Finding> found;
  if (check.facts) {
    NodeDemand demand{settings_.run_directory,
                      settings_.plan.ntasks_per_node,
                      settings_.plan.gpus_per_node,
                      settings_.memory_mib};
    if (const auto gpus = pci_gpus_.find(node); gpus != pci_gpus_.end())
      demand.pci_gpus = gpus->second;
    found = launch::judge(*check.facts, demand);  // not of silent nodes
  } else {
    // Where most nodes are late it is the file system, which the others would wait for as well.
    const auto late = std::count_if(
        checks_.begin(), checks_.end(), [](const auto& one) { return !one.second.facts; });
    const bool alone = 2 * static_cast<std::size_t>(late) <= checks_.size();
    found.push_back({alone ? Severity::unfit : Severity::warning,
                     false,
                     fmt::format("its checks did not end within {} s (--preflight): does the file "
                                 "system of {} or its GPU driver hang?",
                                 settings_.preflight.count(),
                                 settings_.run_directory)});
  }
  if (check.clock) found.push_back(*check.clock);
  return found;
}

void Attempt::judge_nodes(Time now) {
  std::map<std::string, NodeVerdict> unfit;
  for (const auto& [node, check] : checks_) {
    NodeVerdict verdict = verdict_on(node, findings_of(node));
    notes_.insert(notes_.end(), verdict.notes.begin(), verdict.notes.end());
    if (!verdict.unfit.empty()) unfit.emplace(node, std::move(verdict));
  }
  if (unfit.empty()) return start_ranks(now);
  end_unfit(unfit, now);
}

// What is wrong everywhere is no node's fault, and a full disk is none either: no other node would
// do better.
void Attempt::end_unfit(const std::map<std::string, NodeVerdict>& unfit, Time now) {
  const bool everywhere = checks_.size() > 1 && unfit.size() == checks_.size();
  bool disk = everywhere || checks_.size() == 1;
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
    detail += fmt::format("; and {} nodes more", nodes.size() - k_most_told);
  if (everywhere) detail += "; it is so on every node of the job";
  run::Outcome outcome{
      disk ? run::Cause::disk_full : run::Cause::launch_failed, 1, std::move(detail)};
  if (!disk && !everywhere) {
    outcome.node = nodes.front().node;
    outcome.unfit = std::move(nodes);
  }
  failure_ = std::move(outcome);
  kill_all(now);
}

}  // namespace dts::launch
