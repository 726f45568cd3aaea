// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/start/silent_nodes.hpp"

#include "core/base/text/counted.hpp"
#include "core/launch/health/node_doubt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr seconds k_first_look{2};  // after the last hello or the launcher's start
constexpr seconds k_first_warning{5};
constexpr seconds k_doubt{4};  // longer than two probes take, one of which is already running
constexpr std::size_t k_most_named = 8;

// "n1, n2 and 7 more"
std::string name_some(const std::vector<std::string>& nodes) {
  const std::size_t named = std::min(nodes.size(), k_most_named);
  const std::string rest =
      named < nodes.size() ? fmt::format(" and {} more", nodes.size() - named) : std::string();
  return fmt::format(
      "{}{}",
      fmt::join(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(named), ", "),
      rest);
}

const char* describe_reach(Reach reach) {
  switch (reach) {
    case Reach::answers:
      return "up, and its slurmd answers";
    case Reach::mute:
      return "up, but its slurmd does not answer";
    case Reach::refused:
      return "up, but no slurmd runs there";
    case Reach::unreachable:
      return "cannot be reached";
    case Reach::unknown:
      break;
  }
  return "nothing is known about it";
}

}  // namespace

std::vector<std::string> SilentNodes::nodes() const {
  std::set<std::string> heard{settings_.agent_node};  // it is up: we run there
  for (const auto& [rank, state] : ranks_) heard.insert(state.node());
  std::vector<std::string> silent;
  for (const std::string& node : settings_.nodes)
    if (heard.count(node) == 0) silent.push_back(node);
  return silent;
}

void SilentNodes::on_tick(Time now) {
  if (doubt_ && now >= doubt_until_) end_with_suspected(now);
  if (doubt_) return;
  const auto silence = now - ranks_.last_hello();
  if (silence < k_first_look || now < next_poll_) return;
  next_poll_ = now + std::max<Time::duration>(k_first_look, silence);  // at ever longer intervals
  silent_ = nodes();
  // A slow file system delays all nodes. So at least one rank must have arrived before nodes are
  // asked by a step.
  if (silence < k_first_warning || ranks_.empty() || std::exchange(asked_, true)) return;
  mute_ = nodes();
}

void SilentNodes::on_unable(std::vector<run::UnfitNode> unable, Time now) {
  if (ending_.failure()) return;
  const std::vector<std::string> silent = nodes();
  std::erase_if(unable, [&](const run::UnfitNode& one) {
    return std::find(silent.begin(), silent.end(), one.node) == silent.end();
  });
  if (unable.empty()) return;
  ending_.override_end(
      without_unable({run::Cause::launch_failed, 1, "none of its ranks said hello"},
                     std::move(unable),
                     SIZE_MAX),
      now);
}

// A launcher that finds a node dead ends its ranks on other nodes before it exits, so the first
// failure that we see may be the last consequence.
void SilentNodes::end_unless_a_node_is_down(run::Outcome outcome, Time now) {
  if (doubt_) return;
  std::vector<std::string> silent;
  if (!ending_.begun() && !ranks_.all_connected()) silent = nodes();
  if (silent.empty()) return ending_.end(std::move(outcome), now);
  doubt_ = std::move(outcome);
  doubt_until_ = now + k_doubt;
  silent_ = std::move(silent);
}

void SilentNodes::on_probed(const std::vector<NodeReach>& probed, Time now) {
  if (const std::vector<std::string> silent = nodes(); !silent.empty()) judge(probed, silent, now);
  if (doubt_ && !ending_.begun()) end_with_suspected(now);
}

void SilentNodes::end_with_suspected(Time now) {
  ending_.end(*std::exchange(doubt_, std::nullopt), now);
}

void SilentNodes::judge(const std::vector<NodeReach>& probed,
                        const std::vector<std::string>& silent,
                        Time now) {
  const auto silence = now - ranks_.last_hello();
  std::map<Reach, std::vector<std::string>> news;
  for (const NodeReach& node_reach : probed) {
    if (std::find(silent.begin(), silent.end(), node_reach.node) == silent.end()) continue;
    if (node_reach.reach == Reach::unreachable)
      return ending_.override_end(
          {run::Cause::launch_failed,
           1,
           fmt::format("node {} cannot be reached ({}), and none of its {} said hello",
                       node_reach.node,
                       node_reach.detail,
                       counted(settings_.plan.ntasks_per_node, "rank")),
           std::nullopt,
           node_reach.node},  // avoided by the next attempt
          now);
    if (silence < k_first_warning) continue;
    const auto [before, first] = last_reach_.try_emplace(node_reach.node, node_reach.reach);
    if (first || std::exchange(before->second, node_reach.reach) != node_reach.reach)
      news[node_reach.reach].push_back(node_reach.node);
  }
  for (const auto& [reach, nodes] : news)
    news_.notes.push_back(fmt::format(
        "no rank has come from {} for {} s: {}; waiting up to {} s in all (--start-timeout)",
        name_some(nodes),
        std::chrono::floor<seconds>(silence).count(),
        describe_reach(reach),
        settings_.spec.start_timeout.count()));
}

std::string SilentNodes::describe() const {
  std::map<Reach, std::vector<std::string>> seen;
  for (const std::string& node : nodes())
    if (const auto node_reach = last_reach_.find(node); node_reach != last_reach_.end())
      seen[node_reach->second].push_back(node);
  std::string text;
  for (const auto& [reach, nodes] : seen)
    text += fmt::format("; of {}: {}", name_some(nodes), describe_reach(reach));
  return text;
}

}  // namespace dts::launch
