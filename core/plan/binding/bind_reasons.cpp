// SPDX-License-Identifier: Apache-2.0
#include "core/plan/binding/bind_reasons.hpp"

#include "core/base/text/alike.hpp"
#include "core/base/text/number_list.hpp"
#include "core/plan/cores/fabric.hpp"
#include "core/plan/cores/share_cores.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "core/topo/distance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace dts::plan {
namespace {

using topo::NodeTopology;

std::string count(std::size_t number, const char* one) {
  return fmt::format("{} {}{}", number, one, number == 1 ? "" : "s");
}

std::string name_of(const NodeTopology& node, unsigned gpu) {
  const topo::Gpu& device = node.gpus[gpu];
  return device.pci.empty() ? fmt::format("GPU {} ({})", gpu, device.name)
                            : fmt::format("GPU {} ({})", gpu, device.pci);
}

void explain_shares(const NodeTopology& node, const BindRequest& request, NodeBinding& binding) {
  const BindingScore& s = binding.score;
  std::set<unsigned> numas;
  for (const topo::Core& core : node.cores) numas.insert(core.numa);
  std::string each = fmt::format("{} each", s.fewest_cores);
  if (s.fewest_cores != s.most_cores)
    each = fmt::format("{} to {} each", s.fewest_cores, s.most_cores);
  std::string rest = s.unused_cores == 0 ? "all used" : fmt::format("{} unused", s.unused_cores);
  if (s.shared_cores > 0) rest += fmt::format(", {} by several ranks", s.shared_cores);
  binding.reasons.push_back(fmt::format("{} on {} in {}: {}, {}",
                                        count(request.ranks, "rank"),
                                        count(node.cores.size(), "core"),
                                        count(numas.size(), "NUMA node"),
                                        each,
                                        rest));
}

unsigned nearest_core(const NodeTopology& node, unsigned gpu) {
  unsigned nearest = topo::k_other_package + 1;
  for (const topo::Core& core : node.cores)
    nearest = std::min(nearest, topo::distance(core, node.gpus[gpu]));
  return nearest;
}

void say_unreachable(const NodeTopology& node,
                     const std::set<unsigned>& used,
                     NodeBinding& binding) {
  const std::pair<unsigned, const char*> k_far[] = {
      {topo::k_same_package, "another NUMA node of its package"},
      {topo::k_other_package, "another package"}};
  for (const auto& [distance, where] : k_far) {
    std::vector<std::string> names;
    for (const unsigned gpu : used)
      if (nearest_core(node, gpu) == distance) names.push_back(name_of(node, gpu));
    if (names.empty()) continue;
    binding.warnings.push_back(fmt::format(
        "no core near {} may be used: the nearest are in {}, copies are slower. Ask for "
        "whole nodes (--exclusive), or for cores of those NUMA nodes",
        fmt::join(names, ", "),
        where));
  }
}

// Reports how evenly near cores are divided.
void explain_near_cores(const BindRequest& request, NodeBinding& binding) {
  const std::vector<unsigned>& near = binding.score.near_cores;
  if (near.back() == 0) return;
  const std::string each = near.front() == near.back()
                               ? count(near.front(), "core")
                               : fmt::format("{} to {} cores", near.front(), near.back());
  const bool fairest = request.policy == BindPolicy::automatic && near.front() != near.back() &&
                       near.front() == binding.bound.near_cores.front();
  binding.reasons.push_back(fmt::format("{} has {} near its GPUs{}",
                                        near.size() == 1 ? "the rank" : "each rank",
                                        each,
                                        fairest ? ", and no division raises the minimum" : ""));
}

// Reports on cores that explain_near_cores() does not cover: home cores that are far because near
// ones are lacking, and annex cores.
void explain_distance(const NodeTopology& node, NodeBinding& binding) {
  std::set<unsigned> far, annex;
  bool is_annex_near = false;
  for (const RankBinding& rank : binding.ranks) {
    const auto is_near = [&](unsigned core) {
      return mean_distance(node, rank.gpus, core) <= topo::k_same_numa * k_unit;
    };
    if (rank.gpus.empty()) continue;
    for (const unsigned core : rank.home)
      if (!is_near(core)) far.insert(core);
    annex.insert(rank.annex.begin(), rank.annex.end());
    is_annex_near = is_annex_near || std::any_of(rank.annex.begin(), rank.annex.end(), is_near);
  }
  if (!far.empty()) binding.reasons.push_back(count(far.size(), "home core") + " further away");
  if (!annex.empty())
    binding.reasons.push_back(fmt::format("{} {}as annex, for data loaders",
                                          count(annex.size(), "core"),
                                          is_annex_near ? "" : "further away "));
}

// Does not report GPUs that the launcher assigned, or that have a MIG instance for each rank: then
// sharing is intended. Our own jobs are refused earlier (plan/layout) unless --ntasks-per-gpu is
// given.
void explain_shared_gpus(const NodeTopology& node,
                         const BindRequest& request,
                         NodeBinding& binding) {
  if (!request.gpus_of.empty()) return;
  std::map<unsigned, std::size_t> users;
  for (const RankBinding& rank : binding.ranks)
    for (const unsigned gpu : rank.gpus) ++users[gpu];
  std::vector<unsigned> shared;
  std::set<std::size_t> counts;
  for (const auto& [gpu, ranks] : users)
    if (ranks > std::max<std::size_t>(1, node.gpus[gpu].instances.size())) {
      shared.push_back(gpu);
      counts.insert(ranks);
    }
  if (shared.empty()) return;
  const std::string ranks = counts.size() == 1
                                ? count(*counts.begin(), "rank")
                                : fmt::format("{} to {} ranks", *counts.begin(), *counts.rbegin());
  const char* each = shared.size() == 1 ? "" : " each";
  binding.warnings.push_back(
      fmt::format("{} for {}: {} {} used by {}{}, which NCCL refuses. Use at most {} per node",
                  count(request.gpus.size(), "GPU"),
                  count(request.ranks, "rank"),
                  (shared.size() == 1 ? "GPU " : "GPUs ") + fold_numbers(shared),
                  shared.size() == 1 ? "is" : "are",
                  ranks,
                  each,
                  count(request.gpus.size(), "rank")));
}

void explain_gpus(const NodeTopology& node, const BindRequest& request, NodeBinding& binding) {
  const BindingScore& s = binding.score;
  std::set<unsigned> used;
  for (const RankBinding& rank : binding.ranks) used.insert(rank.gpus.begin(), rank.gpus.end());
  if (used.empty()) return;
  if (request.policy == BindPolicy::automatic)
    binding.reasons.push_back(fmt::format(
        "the nearest cores of each rank are {} from its GPUs{}",
        s.home_distance == 0 ? "no step" : fmt::format("{:.2f} steps", s.home_distance),
        s.home_distance > binding.bound.home_distance ? ""
        : request.gpus.size() > request.ranks ? ", no binding with GPUs grouped this way is nearer"
                                              : ", no binding is nearer"));
  explain_near_cores(request, binding);
  explain_distance(node, binding);
  if (s.linked > 0)
    binding.reasons.push_back("the GPUs of a rank are linked without PCI (NVLink, xGMI)");
  std::vector<unsigned> left;
  for (const unsigned gpu : request.gpus)
    if (!used.contains(gpu)) left.push_back(gpu);
  if (!left.empty() && request.gpus_of.empty())
    binding.warnings.push_back(
        fmt::format("no rank has GPU {} of the job: {} cannot be divided evenly among {}",
                    fold_numbers(left),
                    count(request.gpus.size(), "GPU"),
                    count(request.ranks, "rank")));
  explain_shared_gpus(node, request, binding);
  say_unreachable(node, used, binding);
}

// "Ethernet, 252 Gb/s", without the speed if that is unknown.
std::string kind_of(const NodeTopology& node, const std::vector<unsigned>& nics) {
  std::set<unsigned> speeds;
  for (const unsigned nic : nics) speeds.insert(speed_of(node.nics[nic]));
  std::string words = to_string(node.nics[nics[0]].network);
  if (*speeds.begin() > 0) words += fmt::format(", {}", *speeds.begin());
  if (*speeds.begin() > 0 && speeds.size() > 1) words += fmt::format(" to {}", *speeds.rbegin());
  return words + (*speeds.begin() > 0 ? " Gb/s" : "");
}

std::string name_of_nic(const NodeTopology& node, unsigned nic) {
  const topo::Nic& adapter = node.nics[nic];
  return adapter.name.empty() ? adapter.pci : adapter.name;
}

void explain_unused_nics(const NodeTopology& node,
                         const std::vector<NicChoice::Left>& left,
                         NodeBinding& binding) {
  for (const auto& [why, members] :
       group_alike(left.size(), [&](std::size_t i) { return left[i].why; })) {
    std::vector<std::string> names;
    for (const std::size_t i : members) names.push_back(name_of_nic(node, left[i].nic));
    binding.reasons.push_back(fmt::format(
        "{} left out: {} ({})", count(names.size(), "adapter"), fmt::join(names, ", "), why));
  }
}

void explain_nics(const NodeTopology& node, NodeBinding& binding) {
  NicChoice choice = choose_nics(node);
  std::set<unsigned> far, given;
  for (const RankBinding& rank : binding.ranks)
    for (const unsigned nic : rank.nics) {
      far.insert(nic_distance(node, rank, nic));
      given.insert(nic);
    }
  for (const unsigned nic : choice.used)
    if (!given.contains(nic)) choice.left.push_back({nic, "every rank has a nearer one"});
  std::erase_if(choice.used, [&](unsigned nic) { return !given.contains(nic); });
  const auto name = [](unsigned distance) {
    return topo::to_string(static_cast<topo::Path>(distance));
  };
  if (!far.empty())
    binding.reasons.push_back(fmt::format(
        "{} ({}), at most {} each, {}",
        count(choice.used.size(), "adapter"),
        kind_of(node, choice.used),
        count(binding.score.nic_load, "rank"),
        far.size() == 1 ? fmt::format("all at {}", name(*far.begin()))
                        : fmt::format("at {} to {}", name(*far.begin()), name(*far.rbegin()))));
  explain_unused_nics(node, choice.left, binding);
}

}  // namespace

void explain(const NodeTopology& node, const BindRequest& request, NodeBinding& binding) {
  explain_shares(node, request, binding);
  explain_gpus(node, request, binding);
  explain_nics(node, binding);
  binding.reasons.insert(binding.reasons.end(), node.notes.begin(), node.notes.end());
  const BindingScore& s = binding.score;
  if (s.shared_cores == 0 || request.policy == BindPolicy::none) return;
  if (s.unused_cores > 0)
    binding.warnings.push_back(fmt::format(
        "{} shared by several ranks while {} unused: `--bind auto` gives each rank its own",
        s.shared_cores == 1 ? "1 core is" : count(s.shared_cores, "core") + " are",
        s.unused_cores == 1 ? "1 is" : fmt::format("{} are", s.unused_cores)));
  else if (node.cores.size() < request.ranks)
    binding.warnings.push_back(
        fmt::format("{} for {}: some share a core. Ask for more cores (--cpus-per-task), or fewer "
                    "ranks",
                    count(node.cores.size(), "core"),
                    count(request.ranks, "rank")));
}

}  // namespace dts::plan
