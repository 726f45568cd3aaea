// SPDX-License-Identifier: Apache-2.0
#include "core/plan/binding/node_share.hpp"

#include "core/base/text/alike.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/topo/restrict.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace dts::plan {
namespace {

// How many of `cores` each role gets, at least 1: quotas rounded by the method of largest
// remainders. There must be as many cores as roles.
std::vector<std::size_t> cores_of_roles(const std::vector<unsigned>& cpus, std::size_t cores) {
  const auto all = std::accumulate(cpus.begin(), cpus.end(), std::int64_t{0});
  std::vector<std::size_t> shares;
  for (const unsigned one : cpus) shares.push_back(std::max<std::size_t>(1, one * cores / all));
  const auto missing = [&](std::size_t role) {
    return static_cast<std::int64_t>(cpus[role] * cores) -
           static_cast<std::int64_t>(shares[role]) * all;
  };
  const auto sum = [&] { return std::accumulate(shares.begin(), shares.end(), std::size_t{0}); };
  while (sum() != cores) {
    const bool is_short = sum() < cores;
    std::size_t role = shares.size();
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (!is_short && shares[i] == 1) continue;
      const bool is_next = role == shares.size() ||
                           (is_short ? missing(i) > missing(role) : missing(i) < missing(role));
      if (is_next) role = i;
    }
    shares[role] += is_short ? 1 : -1;
  }
  return shares;
}

std::vector<unsigned> pus_of(const topo::NodeTopology& node, const RankBinding& rank) {
  std::vector<unsigned> pus;
  for (const auto* list : {&rank.home, &rank.annex})
    for (const unsigned core : *list)
      pus.insert(pus.end(), node.cores[core].pus.begin(), node.cores[core].pus.end());
  return pus;
}

// A node whose cores are given out.
class Division {
 public:
  Division(const topo::NodeTopology& node,
           const SharedNodes& shared,
           const std::vector<unsigned>& gpus)
      : left_(node), cores_(cores_of_roles(shared.cpus, node.cores.size())), pus_(cores_.size()) {
    for (std::size_t role = 0; role < cores_.size(); ++role) {
      const auto [first, end] = gpus_of_role(shared, role);
      auto& own = gpus_.emplace_back();
      for (std::size_t i = first; i < std::min(end, gpus.size()); ++i) own.push_back(gpus[i]);
    }
  }

  // The same number of cores for each GPU, as many as every role with GPUs has. Otherwise, a role
  // could leave none near the GPUs of those that choose after it.
  [[nodiscard]] Result<void> give_to_gpus() {
    BindRequest request;
    std::size_t each = left_.cores.size();
    std::vector<std::size_t> role_of;
    for (std::size_t role = 0; role < gpus_.size(); ++role)
      for (const unsigned gpu : gpus_[role]) {
        request.gpus.push_back(gpu);
        request.gpus_of.push_back({gpu});
        role_of.push_back(role);
        each = std::min(each, cores_[role] / gpus_[role].size());
      }
    make_set(request.gpus);
    const bool are_shared = request.gpus.size() < role_of.size();  // instances of one GPU
    if (role_of.empty() || are_shared || each == 0) return {};
    request.ranks = static_cast<unsigned>(role_of.size());
    request.cores_per_rank = static_cast<unsigned>(each);
    DTS_ASSIGN(const NodeBinding binding, bind_node(left_, request));
    const topo::NodeTopology all = left_;
    for (std::size_t i = 0; i < role_of.size(); ++i)
      give(role_of[i], pus_of(all, binding.ranks[i]), binding.ranks[i]);
    return {};
  }

  // The cores that the role still lacks: those nearest to its GPUs, or neighbours.
  [[nodiscard]] Result<void> complete(std::size_t role) {
    if (cores_[role] == 0) return {};
    BindRequest request;
    request.cores_per_rank = static_cast<unsigned>(cores_[role]);
    request.gpus = gpus_[role];
    make_set(request.gpus);
    request.gpus_of = {request.gpus};
    DTS_ASSIGN(const NodeBinding binding, bind_node(left_, request));
    give(role, pus_of(left_, binding.ranks.front()), binding.ranks.front());
    return {};
  }

  [[nodiscard]] const std::vector<unsigned>& pus(std::size_t role) const { return pus_[role]; }

 private:
  void give(std::size_t role, std::vector<unsigned> pus, const RankBinding& rank) {
    cores_[role] -= rank.home.size() + rank.annex.size();
    pus_[role].insert(pus_[role].end(), pus.begin(), pus.end());
    make_set(pus);
    std::vector<unsigned> rest;
    for (const topo::Core& core : left_.cores)
      for (const unsigned pu : core.pus)
        if (!std::binary_search(pus.begin(), pus.end(), pu)) rest.push_back(pu);
    left_ = topo::restrict_to(std::move(left_), rest);
  }

  topo::NodeTopology left_;
  std::vector<std::size_t> cores_;  // that each role still lacks
  std::vector<std::vector<unsigned>> pus_;
  std::vector<std::vector<unsigned>> gpus_;  // by role
};

}  // namespace

GpuRun gpus_of_role(const SharedNodes& shared, std::size_t role) {
  const auto begin = shared.gpus.begin();
  const std::size_t first =
      std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(role), std::size_t{0});
  return {first, first + shared.gpus[role]};
}

Result<topo::NodeTopology> share_of_node(const topo::NodeTopology& node,
                                         const SharedNodes& shared,
                                         const std::vector<unsigned>& gpus) {
  if (shared.cpus.empty() || node.cores.size() < shared.cpus.size()) return node;
  Division division(node, shared, gpus);
  DTS_TRY(division.give_to_gpus());
  for (const bool has_gpus : {true, false})
    for (std::size_t role = 0; role < shared.cpus.size(); ++role)
      if ((shared.gpus[role] > 0) == has_gpus) DTS_TRY(division.complete(role));
  return topo::restrict_to(node, division.pus(shared.own));
}

}  // namespace dts::plan
