// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/node_pool.hpp"

#include "core/base/os/log.hpp"
#include "core/base/text/counted.hpp"
#include "core/launch/health/check_step.hpp"
#include "core/launch/health/quarantine.hpp"
#include "core/launch/launcher/own_steps.hpp"
#include "core/run/index/quarantine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_step_start{10};  // for srun to start the step everywhere

}  // namespace

std::vector<NodeStanding> NodePool::standings() const {
  const std::vector<std::string> list = nodes_in_quarantine();
  const std::set<std::string> quarantine(list.begin(), list.end());
  std::vector<NodeStanding> all;
  for (const std::string& node : settings_.nodes) {
    NodeStanding& one = all.emplace_back(NodeStanding{node});
    one.away = down_.count(node) > 0;
    one.suspect = suspects_.count(node) > 0;
    one.quarantined = quarantine.count(node) > 0;
  }
  return all;
}

void NodePool::measure(unsigned attempt, std::vector<NodeStanding>& standings) {
  std::vector<std::string> asked;
  for (const NodeStanding& one : standings)
    if (!one.away) asked.push_back(one.node);
  const GpuUse gpus = settings_.demand.gpus > 0 ? GpuUse::all : GpuUse::none;
  CheckStep step;
  step.command = check_command(asked,
                               gpus,
                               {settings_.dtsubmit,
                                "measure",
                                "--run",
                                settings_.run.path,
                                "--attempt",
                                std::to_string(attempt),
                                "--gpus",
                                gpus == GpuUse::all ? "1" : "0"});
  step.file = settings_.run.attempt(attempt) + "/nodes.jsonl";
  step.nodes = asked.size();
  step.enough = settings_.wanted;
  step.limit = settings_.preflight + k_step_start;
  const auto from = std::chrono::system_clock::now();
  const auto reports = run_check_step(step);
  const auto to = std::chrono::system_clock::now();
  const std::chrono::duration<double> took = to - from;
  if (!reports || reports->empty()) {
    log("no node has measured itself: {}",
        reports ? fmt::format("the step ended or was ended after {:.1f} s without a report",
                              took.count())
                : reports.error().message);
    return;
  }
  measured_ = true;
  for (NodeStanding& one : standings) {
    if (one.away) continue;
    const auto report = std::find_if(reports->begin(), reports->end(), [&](const auto& candidate) {
      return candidate.node == one.node;
    });
    if (report == reports->end()) {
      one.away = true;
      log("pre-flight: {} has not answered within {:.1f} s and is not used",
          one.node,
          took.count());
      continue;
    }
    Judged judged = judge_report(one, *report, settings_.demand, from, to);
    one = std::move(judged.standing);
    for (const std::string& note : judged.notes) log("{}", note);
  }
}

NodeChoice NodePool::choose(unsigned attempt) {
  measured_ = false;
  if (!has_any()) return {settings_.nodes, {}, {}, {}};
  std::vector<NodeStanding> all = standings();
  if (settings_.preflight.count() > 0) measure(attempt, all);
  NodeChoice choice = choose_nodes(all, settings_.wanted);
  std::erase_if(choice.unfit,
                [&](const run::UnfitNode& one) { return !reported_.insert(one.node).second; });
  for (const run::UnfitNode& one : choice.unfit) log("pre-flight: {}: {}", one.node, one.why);
  log("of {} {} are used, spare: {}",
      counted(all.size(), "node"),
      fmt::join(choice.used, ","),
      choice.spare.empty() ? "none" : fmt::format("{}", fmt::join(choice.spare, ",")));
  return choice;
}

run::Outcome NodePool::too_few(const NodeChoice& choice) const {
  run::Outcome outcome{run::Cause::launch_failed, 1, "", std::nullopt};
  outcome.detail = fmt::format("{} of the job's {} nodes can be used, {} are needed",
                               choice.used.size(),
                               settings_.nodes.size(),
                               settings_.wanted);
  outcome.unfit = choice.unfit;
  for (const std::string& node : choice.away)
    outcome.unfit.push_back({node, "down, or silent while others answered"});
  for (const run::UnfitNode& unfit : outcome.unfit)
    outcome.detail += fmt::format("; {}: {}", unfit.node, unfit.why);
  if (!outcome.unfit.empty()) outcome.node = outcome.unfit.front().node;
  return outcome;
}

void NodePool::remember(const run::Outcome& outcome, const std::vector<std::string>& down) {
  down_.insert(down.begin(), down.end());
  for (const run::Strike& one : run::strikes_of(outcome, settings_.run.path, 0))
    suspects_.insert(one.node);
}

std::vector<std::string> NodePool::reachable() const {
  std::vector<std::string> nodes = settings_.nodes;
  std::erase_if(nodes, [this](const std::string& node) { return down_.count(node) > 0; });
  return nodes;
}

bool NodePool::has_spares() const {
  if (!has_any()) return false;
  const auto left = std::count_if(
      settings_.nodes.begin(), settings_.nodes.end(), [this](const std::string& node) {
        return down_.count(node) == 0 && suspects_.count(node) == 0 && reported_.count(node) == 0;
      });
  return left >= static_cast<std::ptrdiff_t>(settings_.wanted);
}

}  // namespace dts::launch
