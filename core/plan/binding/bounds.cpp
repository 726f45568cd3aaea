// SPDX-License-Identifier: Apache-2.0
#include "core/plan/binding/bounds.hpp"

#include "core/base/text/alike.hpp"
#include "core/plan/cores/core_amounts.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace dts::plan {
namespace {

using topo::NodeTopology;

// The minimum number of packages (or NUMA nodes) that a rank with this many cores spans, and their
// total number.
std::pair<unsigned, unsigned> least_parts(const NodeTopology& node,
                                          unsigned topo::Core::*part,
                                          unsigned cores) {
  std::vector<std::size_t> sizes;
  for (const auto& alike :
       group_alike(node.cores.size(), [&](std::size_t core) { return node.cores[core].*part; }))
    sizes.push_back(alike.members.size());
  std::sort(sizes.rbegin(), sizes.rend());
  std::size_t room = 0, least = 0;
  while (room < cores) room += sizes[least++];
  return {static_cast<unsigned>(least), static_cast<unsigned>(sizes.size())};
}

// The shortest path from any GPU to an adapter.
double least_nic_distance(const NodeTopology& node, const std::vector<unsigned>& nics) {
  auto least = static_cast<double>(topo::Path::sys);
  for (const topo::Gpu& gpu : node.gpus)
    for (const unsigned nic : nics)
      least = std::min(least, static_cast<double>(topo::path(gpu, node.nics[nic])));
  return node.gpus.empty() || nics.empty() ? 0 : least;
}

// The minimum number of cores that several ranks share, given that each hardware thread has as few
// ranks as possible.
unsigned least_shared(const CoreQuota& quota, unsigned ranks) {
  std::int64_t left = ranks, shared = 0;
  bool may_share = false;
  for (const CoreQuota::Users& users : quota.users) {
    left -= users.least;
    shared += users.least > 1 ? 1 : 0;
    may_share = may_share || (users.least == 1 && users.most > 1);
  }
  return static_cast<unsigned>(may_share ? shared + left : shared);
}

// The minimum number of L3s with several ranks. An L3 that is not shared has cores of at most one
// rank. Further ranks have all their cores in the remaining L3s, at best the largest, or in none.
// With more ranks than cores, every core has a rank.
unsigned least_shared_l3(const NodeTopology& node, unsigned ranks, unsigned fewest_cores) {
  std::map<std::optional<unsigned>, std::size_t> cores_of;
  for (const topo::Core& core : node.cores) ++cores_of[core.l3];
  std::vector<std::size_t> sizes;
  std::size_t room = 0;  // cores where such ranks may be
  for (const auto& [l3, cores] : cores_of)
    if (l3)
      sizes.push_back(cores);
    else
      room += cores;
  if (ranks > node.cores.size())
    return static_cast<unsigned>(
        std::count_if(sizes.begin(), sizes.end(), [](std::size_t cores) { return cores > 1; }));
  std::sort(sizes.rbegin(), sizes.rend());
  unsigned shared = 0;
  const auto left = [&] { return ranks - std::min<std::size_t>(ranks, sizes.size() - shared); };
  while (left() * fewest_cores > room && shared < sizes.size()) room += sizes[shared++];
  return shared;
}

}  // namespace

BindingScore plain_bound(const NodeTopology& node, const BindRequest& request) {
  const auto cores = static_cast<unsigned>(node.cores.size());
  const unsigned limit = request.cores_per_rank > 0 ? request.cores_per_rank : cores;
  const std::vector<unsigned> adapters = compute_nics(node);
  const auto nics = static_cast<unsigned>(adapters.size());
  BindingScore bound;
  bound.fewest_cores = std::min(limit, std::max(1U, cores / request.ranks));
  bound.most_cores = std::min(limit, (cores + request.ranks - 1) / request.ranks);
  bound.unused_cores = cores - std::min(cores, bound.most_cores * request.ranks);
  bound.shared_cores = least_shared(core_quota(node, request.ranks, limit), request.ranks);
  bound.shared_l3 = least_shared_l3(node, request.ranks, bound.fewest_cores);
  bound.nic_load = nics == 0 ? 0 : (request.ranks + nics - 1) / nics;
  if (!request.gpus.empty()) bound.nic_distance = least_nic_distance(node, adapters);
  const auto [packages, of_packages] = least_parts(node, &topo::Core::package, bound.fewest_cores);
  bound.package_span = request.ranks * packages;
  const auto [numas, of_numas] = least_parts(node, &topo::Core::numa, bound.fewest_cores);
  bound.numa_span = request.ranks * numas;
  bound.numa_load = (bound.numa_span + of_numas - 1) / of_numas;
  return bound;
}

unsigned least_worst_distance(const NodeTopology& node, const GpuChoices& choices) {
  std::vector<unsigned> nearest(node.gpus.size(), topo::k_other_package);
  for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu)
    for (const topo::Core& core : node.cores)
      nearest[gpu] = std::min(nearest[gpu], topo::distance(core, node.gpus[gpu]));
  unsigned least = choices.all ? topo::k_other_package : 0;
  for (const GpuGroups& way : choices.ways) {
    unsigned worst = 0;
    for (const auto& gpus : way.of_rank)
      for (const unsigned gpu : gpus) worst = std::max(worst, nearest[gpu]);
    least = std::min(least, worst);
  }
  return least;
}

}  // namespace dts::plan
