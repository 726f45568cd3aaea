// SPDX-License-Identifier: Apache-2.0
#include "core/check/verdict.hpp"

#include "core/check/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::check {

Verdict judge(const Facts& facts, const Limits& limits, const Facts* baseline) {
  Verdict verdict;
  verdict.links.resize(facts.pairs.size());
  for (const Node& node : facts.nodes) {
    NodeVerdict& one = verdict.nodes.emplace_back();
    one.name = node.name;
    for (const Measured& measured : node.measures)
      one.measures.push_back({identity(measured), measured.value});
    for (const std::string& note : node.notes) verdict.notes.push_back(node.name + ": " + note);
  }
  judge_digests(facts, baseline, verdict);
  judge_gpu_digests(facts, verdict);
  judge_values(facts, limits, baseline, verdict);
  judge_gpus(facts, limits, verdict);
  judge_neighbours(facts, limits, verdict);
  judge_clocks(facts, limits, verdict);
  judge_links(facts, limits, baseline, verdict);
  verdict.notes.insert(verdict.notes.end(), facts.notes.begin(), facts.notes.end());
  verdict.fit = is_fit(verdict);
  return verdict;
}

bool is_fit(const Verdict& verdict) {
  const auto fits = [](const NodeVerdict& node) { return node.fit; };
  return verdict.cluster.empty() && std::all_of(verdict.nodes.begin(), verdict.nodes.end(), fits) &&
         std::all_of(verdict.links.begin(), verdict.links.end(), [](const LinkVerdict& link) {
           return link.fit();
         });
}

std::vector<std::string> faults(const Facts& facts, const Verdict& verdict) {
  std::vector<std::string> all;
  for (const NodeVerdict& node : verdict.nodes)
    for (const std::string& reason : node.reasons) all.push_back(node.name + ": " + reason);
  for (std::size_t i = 0; i < verdict.links.size(); ++i)
    if (const std::string& reason = verdict.links[i].reason; !reason.empty())
      all.push_back(fmt::format("{} - {}: {}", facts.pairs[i].a, facts.pairs[i].b, reason));
  all.insert(all.end(), verdict.cluster.begin(), verdict.cluster.end());
  return all;
}

}  // namespace dts::check
