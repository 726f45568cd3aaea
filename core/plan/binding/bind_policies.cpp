// SPDX-License-Identifier: Apache-2.0
#include "core/plan/binding/bind_policies.hpp"

#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/plan/gpus/gpu_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace dts::plan {
namespace {

using Cores = std::vector<unsigned>;

// The i-th of `count` runs of `cores`, at most `limit` long. Runs share cores if there are too few.
Cores run_of(const Cores& cores, std::size_t i, std::size_t count, std::size_t limit) {
  const std::size_t first = i * cores.size() / count;
  const std::size_t end = std::max(first + 1, (i + 1) * cores.size() / count);
  const auto at = [&](std::size_t k) { return cores.begin() + static_cast<std::ptrdiff_t>(k); };
  return {at(first), at(std::min(end, first + limit))};
}

Cores all_cores(const topo::NodeTopology& node) {
  Cores cores(node.cores.size());
  std::iota(cores.begin(), cores.end(), 0U);
  return cores;
}

// Without a limit, the runs cover all cores; with one, they are packed to the front.
void compact(const topo::NodeTopology& node, std::size_t limit, std::vector<RankBinding>& ranks) {
  Cores cores = all_cores(node);
  if (limit < cores.size() && limit * ranks.size() < cores.size())
    cores.resize(limit * ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    ranks[i].home = run_of(cores, i, ranks.size(), limit);
}

std::vector<Cores> cores_by_numa(const topo::NodeTopology& node) {
  std::map<unsigned, Cores> found;
  for (unsigned core = 0; core < node.cores.size(); ++core)
    found[node.cores[core].numa].push_back(core);
  std::vector<Cores> numas;
  for (auto& [numa, cores] : found) numas.push_back(std::move(cores));
  return numas;
}

// The NUMA node of each rank: round-robin, skipping nodes that already have a rank on every core
// until all nodes do.
std::vector<std::size_t> deal_numas(const std::vector<Cores>& numas, std::size_t ranks) {
  std::vector<std::size_t> numa_of, room(numas.size(), 0);
  std::size_t left = 0, next = 0;
  while (numa_of.size() < ranks) {
    if (left == 0)
      for (std::size_t numa = 0; numa < numas.size(); ++numa)
        left += room[numa] = numas[numa].size();
    while (room[next] == 0) next = (next + 1) % numas.size();
    numa_of.push_back(next);
    --room[next];
    --left;
    next = (next + 1) % numas.size();
  }
  return numa_of;
}

void spread(const topo::NodeTopology& node, std::size_t limit, std::vector<RankBinding>& ranks) {
  const std::vector<Cores> numas = cores_by_numa(node);
  const std::vector<std::size_t> numa_of = deal_numas(numas, ranks.size());
  std::vector<std::size_t> before(numas.size(), 0);  // ranks so far
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks.size() < numas.size()) {  // several NUMA nodes each
      Cores mine;
      for (std::size_t n = i * numas.size() / ranks.size();
           n < (i + 1) * numas.size() / ranks.size();
           ++n)
        mine.insert(mine.end(), numas[n].begin(), numas[n].end());
      mine.resize(std::min(mine.size(), limit));
      ranks[i].home = std::move(mine);
      continue;
    }
    const std::size_t numa = numa_of[i];
    const auto there = static_cast<std::size_t>(std::count(numa_of.begin(), numa_of.end(), numa));
    ranks[i].home = run_of(numas[numa], before[numa]++, there, limit);
  }
}

void by_map(const topo::NodeTopology& node,
            const std::vector<std::vector<unsigned>>& map,
            std::vector<RankBinding>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].cpus = map[i % map.size()];
    std::sort(ranks[i].cpus.begin(), ranks[i].cpus.end());
    for (unsigned core = 0; core < node.cores.size(); ++core) {
      const auto& pus = node.cores[core].pus;
      if (std::any_of(pus.begin(), pus.end(), [&](unsigned pu) {
            return std::binary_search(ranks[i].cpus.begin(), ranks[i].cpus.end(), pu);
          }))
        ranks[i].home.push_back(core);
    }
  }
}

}  // namespace

std::vector<RankBinding> bind_by_policy(const topo::NodeTopology& node,
                                        const BindRequest& request) {
  std::vector<RankBinding> ranks(request.ranks);
  const auto gpus =
      request.gpus_of.empty() ? gpu_runs(request.gpus, request.ranks) : request.gpus_of;
  const std::size_t limit = request.cores_per_rank > 0 ? request.cores_per_rank : node.cores.size();
  if (request.policy == BindPolicy::compact) compact(node, limit, ranks);
  if (request.policy == BindPolicy::spread) spread(node, limit, ranks);
  if (request.policy == BindPolicy::map) by_map(node, request.map, ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (request.policy == BindPolicy::none) ranks[i].home = all_cores(node);
    ranks[i].gpus = gpus[i];
  }
  return ranks;
}

BindRequest request_of(const spec::Bind& bind) {
  BindRequest request;
  request.policy = bind.policy;
  request.map = bind.map;
  return request;
}

}  // namespace dts::plan
