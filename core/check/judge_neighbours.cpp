// SPDX-License-Identifier: Apache-2.0
// Judges how much processor time other programs took during the measurements.
#include "core/check/judge.hpp"
#include "core/check/measures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::check {
namespace {

// The smallest share: a program that runs all the time disturbs every measure, a burst does not.
std::optional<double> least_of(const Node& node) {
  std::optional<double> least;
  for (const Measured& measured : node.measures)
    if (measured.others) least = std::min(least.value_or(1), *measured.others);
  return least;
}

// A share that nine out of ten other nodes do not exceed: with few nodes all of them, with many
// only those not at fault themselves. `sorted`: the shares of all nodes, at least two.
double usual(const std::vector<double>& sorted, double own) {
  const std::size_t peers = sorted.size() - 1;
  const std::size_t place = (peers * 9 + 9) / 10 - 1;
  const auto mine = std::lower_bound(sorted.begin(), sorted.end(), own) - sorted.begin();
  return sorted[place + (static_cast<std::size_t>(mine) <= place ? 1 : 0)];
}

}  // namespace

void judge_neighbours(const Facts& facts, const Limits& limits, Verdict& verdict) {
  std::vector<double> sorted;
  for (std::size_t i = 0; i < facts.nodes.size(); ++i) {
    verdict.nodes[i].others = least_of(facts.nodes[i]);
    if (verdict.nodes[i].others) sorted.push_back(*verdict.nodes[i].others);
  }
  if (sorted.size() < 2) return;
  std::sort(sorted.begin(), sorted.end());
  const double tolerance = limits.tolerance(*find_measure("others"));
  for (NodeVerdict& node : verdict.nodes) {
    if (!node.others) continue;
    const double peers = usual(sorted, *node.others);
    // Among busy peers, one node is easily a quarter busier than the others.
    if (*node.others <= tolerance + 1.25 * peers) continue;
    blame(node,
          fmt::format("other programs took {} of its processors' time, on its peers at most {}",
                      percent(*node.others),
                      percent(peers)));
  }
}

}  // namespace dts::check
