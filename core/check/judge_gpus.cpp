// SPDX-License-Identifier: Apache-2.0
// How many GPUs work: where none was found, against the peers; everywhere, against what was asked.
// Fewer than the peers' is found with the other values.
#include "core/check/judge.hpp"
#include "core/check/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::check {
namespace {

constexpr const char* k_key = "gpus";

std::optional<std::size_t> place_of(const Node& node) {
  const auto found = std::find_if(node.measures.begin(),
                                  node.measures.end(),
                                  [](const Measured& one) { return one.key == k_key; });
  if (found == node.measures.end()) return std::nullopt;
  return static_cast<std::size_t>(found - node.measures.begin());
}

// 0 where nobody has seen any.
double number_of(const Node& node) {
  const auto place = place_of(node);
  return place ? node.measures[*place].value : 0;
}

bool is_blamed(const Facts& facts, const Verdict& verdict, std::size_t node) {
  const auto place = place_of(facts.nodes[node]);
  return place && !verdict.nodes[node].measures[*place].fit;
}

// A node whose driver is gone shows no sign of its GPUs. Of the node itself, nothing counts.
void compare_with_peers(const Facts& facts,
                        const std::vector<std::size_t>& nodes,
                        Verdict& verdict) {
  std::vector<double> peers;
  std::vector<std::size_t> without;
  for (const std::size_t node : nodes) {
    peers.push_back(number_of(facts.nodes[node]));
    if (!place_of(facts.nodes[node])) without.push_back(node);
  }
  const auto own = std::find(peers.begin(), peers.end(), 0.0);
  if (without.empty() || peers.size() < 2) return;
  peers.erase(own);
  const double usual = median(std::move(peers));
  if (usual < 1) return;
  for (const std::size_t node : without)
    blame(verdict.nodes[node],
          fmt::format("it has no GPU that works, but its peers have {:.6g}", usual));
}

}  // namespace

void judge_gpus(const Facts& facts, Verdict& verdict) {
  std::map<std::string, std::vector<std::size_t>> by_cpu;
  for (std::size_t i = 0; i < facts.nodes.size(); ++i) by_cpu[facts.nodes[i].cpu].push_back(i);
  if (facts.gpus_asked == 0)
    for (const auto& [cpu, nodes] : by_cpu) compare_with_peers(facts, nodes, verdict);
  for (std::size_t i = 0; i < facts.nodes.size(); ++i) {
    const double number = number_of(facts.nodes[i]);
    if (number >= facts.gpus_asked || is_blamed(facts, verdict, i)) continue;
    if (const auto place = place_of(facts.nodes[i])) verdict.nodes[i].measures[*place].fit = false;
    blame(verdict.nodes[i],
          fmt::format("it has {:.6g} working {}, not {} as asked for",
                      number,
                      number == 1 ? "GPU" : "GPUs",
                      facts.gpus_asked));
  }
}

}  // namespace dts::check
