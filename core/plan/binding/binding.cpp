// SPDX-License-Identifier: Apache-2.0
#include "core/plan/binding/binding.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/text/counted.hpp"
#include "core/plan/binding/bind_policies.hpp"
#include "core/plan/binding/bind_reasons.hpp"
#include "core/plan/binding/bounds.hpp"
#include "core/plan/cores/share_cores.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "core/plan/gpus/gpu_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace dts::plan {
namespace {

using topo::NodeTopology;

// The number of GPU assignments that are evaluated in full, most promising first.
constexpr std::size_t k_most_tries = 24;

void check_gpus(const NodeTopology& node, const BindRequest& request, Diagnostics& problems) {
  std::vector<std::vector<unsigned>> lists = request.gpus_of;
  lists.push_back(request.gpus);
  for (const auto& list : lists)
    for (const unsigned gpu : list)
      if (gpu >= node.gpus.size())
        problems.push_back(
            {"GPUs", fmt::format("there is no GPU {}, the node has {}", gpu, node.gpus.size())});
}

void check_map(const NodeTopology& node, const BindRequest& request, Diagnostics& problems) {
  std::set<unsigned> open;
  for (const topo::Core& core : node.cores) open.insert(core.pus.begin(), core.pus.end());
  if (request.map.empty()) problems.push_back({"--bind map", "not a list of processors"});
  for (const auto& list : request.map)
    for (const unsigned pu : list)
      if (!open.contains(pu))
        problems.push_back({"--bind map",
                            fmt::format("processor {} does not exist or may not be used", pu),
                            "`dtsubmit topo` shows the usable ones"});
}

Result<void> check(const NodeTopology& node, const BindRequest& request) {
  Diagnostics problems;
  if (node.cores.empty()) problems.push_back({"node", "no core that may be used"});
  if (request.ranks == 0) problems.push_back({"ranks", "none to bind"});
  if (!request.gpus_of.empty() && request.gpus_of.size() != request.ranks)
    problems.push_back({"GPUs", "not a list for each rank"});
  if (const auto most = node.cores.size() / std::max(1U, request.ranks);
      request.cores_per_rank > std::max<std::size_t>(1, most))
    problems.push_back({"cores per rank",
                        fmt::format("{} requested, {} for {} are available",
                                    request.cores_per_rank,
                                    counted(node.cores.size(), "core"),
                                    counted(request.ranks, "rank")),
                        fmt::format("ask for at most {}", std::max<std::size_t>(1, most))});
  check_gpus(node, request, problems);
  if (request.policy == BindPolicy::map) check_map(node, request, problems);
  if (problems.empty()) return {};
  return tl::unexpected(to_error(problems));
}

// Gives each rank the hardware threads of its cores: all of them, or, if several ranks share a
// core, separate ones if there are enough.
void take_threads(const NodeTopology& node, BindPolicy policy, std::vector<RankBinding>& ranks) {
  std::map<unsigned, std::vector<RankBinding*>> users;
  for (RankBinding& rank : ranks)
    for (const auto* list : {&rank.home, &rank.annex})
      for (const unsigned core : *list) users[core].push_back(&rank);
  for (const auto& [core, list] : users) {
    const std::vector<unsigned>& pus = node.cores[core].pus;
    const bool enough = policy == BindPolicy::automatic && list.size() <= pus.size();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::size_t first = enough ? i * pus.size() / list.size() : 0;
      const std::size_t end = enough ? (i + 1) * pus.size() / list.size() : pus.size();
      list[i]->cpus.insert(list[i]->cpus.end(),
                           pus.begin() + static_cast<std::ptrdiff_t>(first),
                           pus.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
  for (RankBinding& rank : ranks) std::sort(rank.cpus.begin(), rank.cpus.end());
}

void take_memory(const NodeTopology& node, std::vector<RankBinding>& ranks) {
  for (RankBinding& rank : ranks) {
    std::set<unsigned> numas;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const unsigned core : rank.home) {
      const std::int64_t distance = mean_distance(node, rank.gpus, core);
      if (distance < least) numas.clear();
      least = std::min(least, distance);
      if (distance == least) numas.insert(node.cores[core].numa);
    }
    rank.numas.assign(numas.begin(), numas.end());
  }
}

struct Best {
  std::vector<RankBinding> ranks;
  BindingScore score, bound;
};

// False if neither this assignment nor any after it can be better.
bool may_be_better(const GpuGroups& way, const BindingScore& best) {
  const unsigned most = way.near_cores.front(), has = best.near_cores.front();
  return most != has ? most > has : way.home_distance <= best.home_distance;
}

// True if no other assignment can be better: this one achieves its bound, later ones have no better
// bounds, and the remaining scores are at their bounds.
bool matches_score(const GpuGroups& way, const BindingScore& found, const BindingScore& bound) {
  return found.near_cores == way.near_cores && found.home_distance <= way.home_distance &&
         found.mean_distance <= way.mean_distance && found.farthest_home <= way.home_distance &&
         found.nic_distance <= bound.nic_distance && found.nic_load == bound.nic_load &&
         found.package_span == bound.package_span && found.shared_l3 == 0 &&
         found.numa_load == bound.numa_load && found.numa_span == bound.numa_span;
}

// The bound for a rank is what it would get alone. With only one choice of GPUs, the flows have
// already computed the exact optimum.
void add_bound(const NodeTopology& node, const GpuChoices& choices, unsigned limit, Best& best) {
  BindingScore& bound = best.bound;
  const BindingScore& s = best.score;
  const GpuGroups& first = choices.ways[0];
  std::tie(
      bound.gpu_packages, bound.linked, bound.gpu_crossings, bound.gpu_numas, bound.gpu_paths) =
      std::tie(s.gpu_packages, s.linked, s.gpu_crossings, s.gpu_numas, s.gpu_paths);
  bound.near_cores.assign(best.ranks.size(), bound.most_cores);
  if (choices.ways.size() == 1) {
    bound.near_cores = s.near_cores;
    bound.home_distance = s.home_distance;
    bound.mean_distance = least_mean_distance(node, first.of_rank, limit);
    bound.nic_distance = s.nic_distance;
  } else if (choices.all) {
    bound.near_cores = first.near_cores;
    bound.home_distance = first.home_distance;
    bound.mean_distance = first.mean_distance;
    for (const GpuGroups& way : choices.ways) {
      bound.home_distance = std::min(bound.home_distance, way.home_distance);
      bound.mean_distance = std::min(bound.mean_distance, way.mean_distance);
    }
  }
  bound.farthest_home = bound.home_distance;
}

// Evaluates the most promising assignments until no other can be better.
Best best_of(const NodeTopology& node, const BindRequest& request) {
  const unsigned limit = request.cores_per_rank > 0 ? request.cores_per_rank : 1U << 30;
  GpuChoices choices;
  if (!request.gpus_of.empty())
    choices.ways.push_back({request.gpus_of, {}, 0, 0});
  else
    choices = gpu_choices(node, request.gpus, request.ranks, limit);
  Best best;
  best.bound = plain_bound(node, request);
  best.bound.worst_distance = least_worst_distance(node, choices);
  for (std::size_t tried = 0; tried < std::min(choices.ways.size(), k_most_tries); ++tried) {
    const GpuGroups& way = choices.ways[tried];
    if (tried > 0 && !may_be_better(way, best.score)) break;
    auto ranks = share_cores(node, way.of_rank, limit);
    share_nics(node, ranks);
    const BindingScore found = score(node, ranks);
    if (tried == 0 || is_better(found, best.score)) {
      best.ranks = std::move(ranks);
      best.score = found;
    }
    if (matches_score(way, found, best.bound)) break;
  }
  add_bound(node, choices, limit, best);
  return best;
}

// The node as if each core had no more than this many hardware threads.
NodeTopology with_threads(NodeTopology node, unsigned most) {
  for (topo::Core& core : node.cores) core.pus.resize(std::min<std::size_t>(core.pus.size(), most));
  return node;
}

}  // namespace

Result<NodeBinding> bind_node(const NodeTopology& node, const BindRequest& request) {
  if (request.smt > 0 && request.policy != BindPolicy::map) {
    BindRequest rest = request;
    rest.smt = 0;
    return bind_node(with_threads(node, request.smt), rest);
  }
  DTS_TRY(check(node, request));
  Best best = best_of(node, request);
  if (request.policy != BindPolicy::automatic) {
    best.ranks = bind_by_policy(node, request);
    share_nics(node, best.ranks);
    best.score = score(node, best.ranks);
  }
  if (request.policy != BindPolicy::map) take_threads(node, request.policy, best.ranks);
  take_memory(node, best.ranks);
  NodeBinding binding{std::move(best.ranks), best.score, best.bound, {}, node.doubts};
  explain(node, request, binding);
  return binding;
}

}  // namespace dts::plan
