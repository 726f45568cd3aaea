// SPDX-License-Identifier: Apache-2.0
// Judges measures without noise: clocks by a limit, digests by equality.
#include "core/base/text/counted.hpp"
#include "core/check/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::check {
namespace {

struct Clock {
  std::size_t node = 0;
  double offset = 0;
  std::optional<std::size_t> place{};  // in Node::measures; nullopt: the node that others refer to
};

std::vector<Clock> clocks_of(const Facts& facts) {
  std::vector<Clock> clocks;
  bool any = false;
  for (std::size_t i = 0; i < facts.nodes.size(); ++i) {
    const Node& node = facts.nodes[i];
    const auto found = std::find_if(node.measures.begin(), node.measures.end(), [](const auto& m) {
      return m.key == "clock_offset";
    });
    if (found != node.measures.end()) {
      any = true;
      clocks.push_back({i, found->value, static_cast<std::size_t>(found - node.measures.begin())});
    } else if (node.rank == 0) {
      clocks.push_back({i, 0, std::nullopt});
    }
  }
  return any ? clocks : std::vector<Clock>();
}

// The offset that most clocks share: the middle of the longest run of sorted offsets that differ by
// at most `limit`; nullopt if these are not a majority.
std::optional<double> common_offset(const std::vector<Clock>& clocks, double limit) {
  std::vector<double> sorted;
  for (const Clock& clock : clocks) sorted.push_back(clock.offset);
  std::sort(sorted.begin(), sorted.end());
  std::size_t best = 0, start = 0, first = 0;
  for (std::size_t end = 0; end < sorted.size(); ++end) {
    while (sorted[end] - sorted[first] > limit) ++first;
    if (end - first + 1 > best) {
      best = end - first + 1;
      start = first;
    }
  }
  if (best * 2 <= sorted.size()) return std::nullopt;
  return sorted[start + (best - 1) / 2];
}

struct Groups {
  std::map<std::string, std::vector<std::size_t>> nodes;  // by digest

  [[nodiscard]] std::vector<std::string> names(const Facts& facts,
                                               const std::string& digest) const {
    std::vector<std::string> all;
    for (const std::size_t node : nodes.at(digest)) all.push_back(facts.nodes[node].name);
    return all;
  }
};

void judge_group(const Facts& facts, const Groups& groups, Verdict& verdict) {
  if (groups.nodes.size() < 2) return;
  std::size_t total = 0;
  auto most = groups.nodes.begin();
  for (auto one = groups.nodes.begin(); one != groups.nodes.end(); ++one) {
    total += one->second.size();
    if (one->second.size() > most->second.size()) most = one;
  }
  if (most->second.size() * 2 <= total) {
    std::string words;
    for (const auto& [digest, nodes] : groups.nodes)
      words += fmt::format("{}{} computed {}",
                           words.empty() ? "" : "; ",
                           in_words(groups.names(facts, digest)),
                           short_form(digest));
    verdict.cluster.push_back(
        fmt::format("the same training step gave different bits, and no majority says which are "
                    "right: {}",
                    words));
    return;
  }
  for (const auto& [digest, nodes] : groups.nodes)
    for (const std::size_t node : nodes)
      if (digest != most->first)
        blame_for_bits(
            verdict.nodes[node],
            fmt::format("the same training step gave other bits than on its peers ({}, but {} on "
                        "{} nodes)",
                        short_form(digest),
                        short_form(most->first),
                        most->second.size()));
}

// Compares digests with the baseline's: for one CPU model and trainer, bits do not change.
void compare_with(const Facts& baseline, const Facts& facts, Verdict& verdict) {
  if (baseline.trainer != facts.trainer) return;
  std::map<std::string, std::string> then;
  for (const Node& node : baseline.nodes)
    if (node.steps.odd_repeats.empty() && !node.steps.digest.empty())
      then.emplace(node.cpu, node.steps.digest);
  std::vector<std::string> changed;
  for (const Node& node : facts.nodes)
    if (const auto old = then.find(node.cpu);
        old != then.end() && !node.steps.digest.empty() && old->second != node.steps.digest)
      changed.push_back(node.name);
  if (changed.empty()) return;
  if (changed.size() == facts.nodes.size() && changed.size() > 1) {
    verdict.notes.push_back(
        "the training step gives other bits than the baseline's on every node: another oneDNN, "
        "kernel or microcode; --save-baseline takes them as they are now");
    return;
  }
  for (NodeVerdict& node : verdict.nodes)
    if (node.fit && std::find(changed.begin(), changed.end(), node.name) != changed.end())
      blame_for_bits(node, "its training step gives other bits than in the baseline");
}

}  // namespace

void judge_clocks(const Facts& facts, const Limits& limits, Verdict& verdict) {
  const std::vector<Clock> clocks = clocks_of(facts);
  if (clocks.size() < 2) return;
  const double limit = limits.tolerance(*find_measure("clock_offset"));
  const auto common = common_offset(clocks, limit);
  const auto [low, high] =
      std::minmax_element(clocks.begin(), clocks.end(), [](const auto& a, const auto& b) {
        return a.offset < b.offset;
      });
  if (!common) {
    verdict.cluster.push_back(
        fmt::format("the clocks of {} and {} differ by {}, and no majority says which is right",
                    facts.nodes[low->node].name,
                    facts.nodes[high->node].name,
                    quantity(high->offset - low->offset, "s")));
    return;
  }
  for (const Clock& clock : clocks) {
    const double off = clock.offset - *common;
    const bool fit = std::fabs(off) <= limit;
    if (clock.place) {
      Judged& judged = verdict.nodes[clock.node].measures[*clock.place];
      judged.peers = *common;
      judged.fit = fit;
    }
    if (!fit)
      blame(verdict.nodes[clock.node],
            fmt::format("its clock is {} {} its peers'",
                        quantity(std::fabs(off), "s"),
                        off > 0 ? "ahead of" : "behind"));
  }
}

void judge_digests(const Facts& facts, const Facts* baseline, Verdict& verdict) {
  std::map<std::string, Groups> by_cpu;
  for (std::size_t i = 0; i < facts.nodes.size(); ++i) {
    const Steps& steps = facts.nodes[i].steps;
    if (!steps.odd_repeats.empty())
      blame_for_bits(
          verdict.nodes[i],
          fmt::format("{} of {} of the same training step gave other bits than the first",
                      steps.odd_repeats.size(),
                      counted(steps.repeats, "repeat")));
    else if (!steps.digest.empty())  // a node that contradicts itself has no vote
      by_cpu[facts.nodes[i].cpu].nodes[steps.digest].push_back(i);
  }
  for (const auto& [cpu, groups] : by_cpu) judge_group(facts, groups, verdict);
  if (baseline != nullptr) compare_with(*baseline, facts, verdict);
}

}  // namespace dts::check
