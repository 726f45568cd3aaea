// SPDX-License-Identifier: Apache-2.0
#include "core/check/best_of.hpp"

#include "core/check/measures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace dts::check {
namespace {

double better(const Measure& row, double a, double b) {
  if (row.family == Family::clock) return std::fabs(a) < std::fabs(b) ? a : b;
  return row.better == Better::higher ? std::max(a, b) : std::min(a, b);
}

// Bits that were wrong once make the node unfit, so odd repeats add up.
void add(Steps& steps, const Steps& again) {
  if (again.digest.empty()) return;
  const unsigned repeats = steps.repeats;
  steps.repeats += again.repeats;
  for (const unsigned odd : again.odd_repeats) steps.odd_repeats.push_back(repeats + odd);
  if (steps.digest.empty())
    steps.digest = again.digest;
  else if (steps.digest != again.digest)
    steps.odd_repeats.push_back(repeats);
}

void take_better(Node& node, const Node& again) {
  std::map<std::string, const Measured*> values;
  for (const Measured& measured : again.measures) values.emplace(identity(measured), &measured);
  for (Measured& measured : node.measures) {
    const Measure* row = find_measure(measured.key);
    const auto other = values.find(identity(measured));
    if (row == nullptr || other == values.end()) continue;
    const Measured& second = *other->second;
    measured.value = better(*row, measured.value, second.value);
    if (measured.others && second.others)
      measured.others = std::min(*measured.others, *second.others);
  }
  add(node.steps, again.steps);
  for (const GpuSteps& other : again.gpu_steps) {
    const auto same =
        std::find_if(node.gpu_steps.begin(), node.gpu_steps.end(), [&](const GpuSteps& one) {
          return one.gpu == other.gpu && one.path == other.path;
        });
    if (same == node.gpu_steps.end())
      node.gpu_steps.push_back(other);
    else
      add(same->steps, other.steps);
  }
}

bool is_known(const Pair& pair) {
  return pair.latency && pair.bandwidth && !pair.disturbed;
}

// An undisturbed measurement is preferred to a disturbed one.
void take_better(Pair& pair, const Pair& again) {
  if (pair.disturbed != again.disturbed) {
    if (pair.disturbed) pair = again;
    return;
  }
  if (again.latency) pair.latency = std::min(pair.latency.value_or(*again.latency), *again.latency);
  if (again.bandwidth)
    pair.bandwidth = std::max(pair.bandwidth.value_or(*again.bandwidth), *again.bandwidth);
}

}  // namespace

void forgive(Verdict& verdict, const Facts& facts, const Facts& once, const Verdict& of_once) {
  std::set<std::string> fit_nodes;
  for (const NodeVerdict& node : of_once.nodes)
    if (node.fit) fit_nodes.insert(node.name);
  for (NodeVerdict& node : verdict.nodes) {
    if (!node.steps_fit || fit_nodes.count(node.name) == 0) continue;
    node.fit = true;
    node.reasons.clear();
    for (Judged& judged : node.measures) judged.fit = true;
  }
  std::set<std::pair<std::string, std::string>> fit_pairs;
  for (std::size_t i = 0; i < once.pairs.size(); ++i)
    if (of_once.links[i].fit() && is_known(once.pairs[i]))
      fit_pairs.insert(std::minmax(once.pairs[i].a, once.pairs[i].b));
  for (std::size_t i = 0; i < facts.pairs.size(); ++i)
    if (fit_pairs.count(std::minmax(facts.pairs[i].a, facts.pairs[i].b)) > 0)
      verdict.links[i] = LinkVerdict();
  verdict.fit = is_fit(verdict);
}

Facts best_of(Facts first, const Facts& second) {
  std::map<std::string, const Node*> nodes;
  for (const Node& node : second.nodes) nodes.emplace(node.name, &node);
  for (Node& node : first.nodes)
    if (const auto again = nodes.find(node.name); again != nodes.end())
      take_better(node, *again->second);
  std::map<std::pair<std::string, std::string>, const Pair*> pairs;
  for (const Pair& pair : second.pairs) pairs.emplace(std::minmax(pair.a, pair.b), &pair);
  for (Pair& pair : first.pairs)
    if (const auto again = pairs.find(std::minmax(pair.a, pair.b)); again != pairs.end())
      take_better(pair, *again->second);
  return first;
}

}  // namespace dts::check
