// SPDX-License-Identifier: Apache-2.0
// Judges how many GPUs work: on a node where none was found by comparison with its peers, and on
// all nodes by the requested number. (A number below the peers' is found together with the other
// values.) Compares each GPU with all others of its model.
#include "core/check/judge.hpp"
#include "core/check/measures.hpp"
#include "core/check/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

// 0 if no GPU was seen on the node.
double number_of(const Node& node) {
  const auto place = place_of(node);
  return place ? node.measures[*place].value : 0;
}

bool is_blamed(const Facts& facts, const Verdict& verdict, std::size_t node) {
  const auto place = place_of(facts.nodes[node]);
  return place && !verdict.nodes[node].measures[*place].fit;
}

// A node whose driver is gone shows no sign of its GPUs, so a missing count is judged by the peers'
// counts. The zero of the judged node itself is omitted from these.
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

// The place of a GPU's value.
struct Place {
  std::size_t node = 0;
  std::size_t measure = 0;  // in Node::measures
};

// Each GPU's best value, as a GPU may be near one NUMA node and far from another.
std::vector<Place> best_of_each(const Facts& facts,
                                const std::string& key,
                                const std::string& model) {
  std::vector<Place> places;
  for (std::size_t node = 0; node < facts.nodes.size(); ++node) {
    const auto& measures = facts.nodes[node].measures;
    std::map<unsigned, std::size_t> best;
    for (std::size_t i = 0; i < measures.size(); ++i) {
      if (measures[i].key != key || measures[i].model != model || !measures[i].gpu) continue;
      const auto [at, is_new] = best.try_emplace(*measures[i].gpu, i);
      if (!is_new && measures[i].value > measures[at->second].value) at->second = i;
    }
    for (const auto& [gpu, measure] : best) places.push_back({node, measure});
  }
  return places;
}

struct Compared {
  const Measure* row = nullptr;
  bool is_link = false;
  std::vector<Place> places;
  Sample sample{{}};
};

// The values of one GPU, whose noise is estimated together.
std::vector<JointNoise::Member> members_of(const Facts& facts,
                                           const std::vector<Compared>& all,
                                           const Place& wanted) {
  const auto gpu_of = [&](const Place& place) {
    return std::pair(place.node, facts.nodes[place.node].measures[place.measure].gpu);
  };
  std::vector<JointNoise::Member> members;
  for (const Compared& one : all)
    for (std::size_t i = 0; i < one.places.size(); ++i)
      if (gpu_of(one.places[i]) == gpu_of(wanted)) members.push_back({&one.sample, i});
  return members;
}

// A link's rate depends on its slot, so it is compared with other slots only if there is nothing
// better. Rates of the card itself do not depend on the slot.
void compare_one(const Facts& facts,
                 const Limits& limits,
                 const std::vector<Compared>& all,
                 const Compared& one,
                 Verdict& verdict) {
  const double scale = one.sample.peers() < 3 ? 2 : 1;
  JointNoise noise(limits.deviations);
  for (std::size_t i = 0; i < one.places.size() && one.sample.peers() > 0; ++i) {
    const Place& place = one.places[i];
    const Measured& measured = facts.nodes[place.node].measures[place.measure];
    Judged& judged = verdict.nodes[place.node].measures[place.measure];
    if (!judged.fit || (one.is_link && (judged.peers || judged.baseline))) continue;
    const double others = std::exp(one.sample.centre(i));
    const Better better = one.row->better;
    const double limit = std::max(allowed(better, limits.tolerance(*one.row) * scale),
                                  std::min(noise.limit(members_of(facts, all, place)), k_no_noise));
    if (worse_by(better, measured.value, others) <= limit + 1e-9) continue;
    judged.fit = false;
    blame(verdict.nodes[place.node],
          fmt::format("{} is {} that of other GPUs of its model ({})",
                      label(measured),
                      ratio_in_words(better, measured.value, others),
                      of_quantity(measured.value, others, measured.unit)));
  }
}

void compare_gpus(const Facts& facts, const Limits& limits, Verdict& verdict) {
  std::set<std::string> models;
  for (const Node& node : facts.nodes)
    for (const Measured& one : node.measures)
      if (one.gpu) models.insert(one.model);
  for (const std::string& model : models) {
    std::vector<Compared> all;
    for (const std::string key : {"hbm", "gpu_bf16", "gpu_fp32", "h2d", "d2h"}) {
      std::vector<Place> places = best_of_each(facts, key, model);
      std::vector<double> values;
      for (const Place& at : places)
        values.push_back(
            std::log(std::max(facts.nodes[at.node].measures[at.measure].value, 1e-300)));
      all.push_back({find_measure(key),
                     key == "h2d" || key == "d2h",
                     std::move(places),
                     Sample(std::move(values))});
    }
    for (const Compared& one : all) compare_one(facts, limits, all, one, verdict);
  }
}

}  // namespace

void judge_gpus(const Facts& facts, const Limits& limits, Verdict& verdict) {
  compare_gpus(facts, limits, verdict);
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
