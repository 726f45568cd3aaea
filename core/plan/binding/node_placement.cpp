// SPDX-License-Identifier: Apache-2.0
#include "core/plan/binding/node_placement.hpp"

#include "core/base/text/alike.hpp"
#include "core/plan/binding/locate_gpus.hpp"
#include "core/plan/binding/node_share.hpp"
#include "core/plan/binding/rank_links.hpp"
#include "core/plan/cores/fabric.hpp"
#include "core/plan/gpus/gpu_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dts::plan {
namespace {

bool is_in(const std::vector<unsigned>& sorted, unsigned number) {
  return std::binary_search(sorted.begin(), sorted.end(), number);
}

// How many ranks may use each core.
std::vector<unsigned> users_of_cores(const NodeBinding& binding, std::size_t cores) {
  std::vector<unsigned> users(cores, 0);
  for (const RankBinding& rank : binding.ranks)
    for (const auto* list : {&rank.home, &rank.annex})
      for (const unsigned core : *list) ++users[core];
  return users;
}

std::vector<std::vector<unsigned>> gpus_of_ranks(const NodeBinding& binding) {
  std::vector<std::vector<unsigned>> gpus;
  for (const RankBinding& rank : binding.ranks) gpus.push_back(rank.gpus);
  return gpus;
}

// The number of cores of a rank, rounded down, with a shared core counted as a fraction for each of
// its ranks, so that each thread has a core.
unsigned whole_cores(const std::vector<unsigned>& cores, const std::vector<unsigned>& users) {
  double sum = 0;
  for (const unsigned core : cores) sum += 1.0 / users[core];
  return std::max(1U, static_cast<unsigned>(sum + 1e-9));
}

void take_cores(Placement& placement, const topo::NodeTopology& node, const RankBinding& share) {
  placement.cpus = share.cpus;
  for (const auto* list : {&share.home, &share.annex})  // home cores are for the program's threads
    for (const unsigned core : *list) {
      const std::vector<unsigned>& pus = node.cores[core].pus;
      const auto own = std::find_if(pus.begin(), pus.end(), [&](unsigned pu) {
        return std::binary_search(share.cpus.begin(), share.cpus.end(), pu);
      });
      if (own != pus.end()) placement.first_cpus.push_back(*own);
    }
  placement.cores = static_cast<unsigned>(std::max<std::size_t>(1, placement.first_cpus.size()));
}

// Memory that is copied to and from GPUs must be near them, whichever core allocates it.
void take_memory(Placement& placement, const topo::NodeTopology& node, const RankBinding& share) {
  if (share.gpus.empty() || share.numas.size() != 1 || share.numas[0] >= node.numas.size()) return;
  const topo::NumaNode& numa = node.numas[share.numas[0]];
  // The kernel rejects a policy for a node without memory, and uses the nearest one by itself.
  if (numa.has_memory) placement.memory = {MemoryPolicy::Kind::prefer, {numa.os}};
}

void take_nics(Placement& placement, const topo::NodeTopology& node, const RankBinding& share) {
  for (const unsigned nic : share.nics)
    for (const std::size_t port : ports_of(node, node.nics[nic]))
      placement.nics.push_back(fmt::format("{}:{}", node.fabric[port].hca, node.fabric[port].port));
}

}  // namespace

// Puts GPUs of another type last, so that they are used only if there are too few of the right
// type.
void NodePlacement::put_last(const std::vector<unsigned>& others, NodeGpus& gpus) {
  if (others.empty() || gpus.indices.size() != gpus.all.size()) return;
  NodeGpus sorted;
  for (const bool is_other : {false, true})
    for (std::size_t i = 0; i < gpus.all.size(); ++i)
      if (is_in(others, gpus.indices[i]) == is_other) {
        sorted.all.push_back(gpus.all[i]);
        sorted.indices.push_back(gpus.indices[i]);
      }
  gpus = std::move(sorted);
}

// Without those of the other roles on the node. Roles on a machine of their user with fewer GPUs
// than they need share them; the numbers of GPUs are made up there.
NodePlacement::NodeGpus NodePlacement::share_of(const NodeGpus& gpus,
                                                const Plan& plan,
                                                const topo::NodeTopology* node,
                                                bool are_made_up) {
  if (!plan.shared || !gpus.of_rank.empty() || gpus.all.empty()) return gpus;
  const bool may_be_fewer = are_made_up && node != nullptr && !node->gpus.empty();
  const std::size_t all = gpus.all.size();
  const std::size_t there = may_be_fewer ? std::min(all, node->gpus.size()) : all;
  const auto [first, end] = gpus_of_role(*plan.shared, plan.shared->own);
  NodeGpus own;
  for (std::size_t i = first; i < std::min(end, first + there); ++i) {
    own.all.push_back(gpus.all[i % there]);
    if (i % there < gpus.indices.size()) own.indices.push_back(gpus.indices[i % there]);
  }
  return own;
}

// `others`: see GpusByType.
NodePlacement::NodeGpus NodePlacement::gpus_of(const NodeRanks& ranks,
                                               unsigned planned,
                                               const topo::NodeTopology* node,
                                               const std::vector<unsigned>& others) {
  NodeGpus gpus;
  if (planned == 0) return gpus;
  gpus.all = ranks[0]->gpu_ids;
  const auto same = [&](const RankHello* hello) { return hello->gpu_ids == gpus.all; };
  if (!std::all_of(ranks.begin(), ranks.end(), same)) {
    for (const RankHello* hello : ranks) gpus.of_rank.push_back(hello->gpu_ids);
    gpus.all.clear();
    return gpus;
  }
  if (gpus.all.empty()) {
    const std::size_t choice = others.empty() ? 0 : node->gpus.size();
    for (unsigned gpu = 0; gpu < std::max<std::size_t>(planned, choice); ++gpu)
      gpus.all.push_back(std::to_string(gpu));
  }
  if (node != nullptr) gpus.indices = locate_gpus(gpus.all, *ranks[0], *node);
  put_last(others, gpus);
  if (gpus.all.size() > planned) {
    gpus.all.resize(planned);
    gpus.indices.resize(std::min<std::size_t>(gpus.indices.size(), planned));
  }
  return gpus;
}

NodePlacement::NodePlacement(const NodeRanks& ranks,
                             const Plan& plan,
                             const topo::NodeTopology* node,
                             const std::string& gpu_type)
    : ranks_(ranks),
      node_(node),
      by_type_(node != nullptr && gpus_of_node(plan) > 0 ? gpus_by_type(*node, gpu_type)
                                                         : GpusByType()),
      gpus_of_job_(gpus_of(ranks, gpus_of_node(plan), node, by_type_.others)),
      gpus_(share_of(gpus_of_job_, plan, node, ranks[0]->gpu_ids.empty())),
      divided_(divide_gpus()),
      gpu_type_(gpu_type) {}

Result<void> NodePlacement::bind(const Plan& plan) {
  if (node_ == nullptr) return {};
  if (plan.shared) {
    DTS_ASSIGN(share_, share_of_node(*node_, *plan.shared, gpus_of_job_.indices));
    node_ = &*share_;
  }
  BindRequest request = request_of(plan.bind);
  request.ranks = static_cast<unsigned>(ranks_.size());
  request.smt = plan.smt;
  request.cores_per_rank = plan.cores_per_rank;
  request.gpus = gpus_.indices;
  make_set(request.gpus);
  if (!gpus_.indices.empty())
    for (const auto& places : divided_) {
      auto& own = request.gpus_of.emplace_back();
      for (const unsigned place : places) own.push_back(gpus_.indices[place]);
      make_set(own);
    }
  if (!gpus_.of_rank.empty()) request.gpus_of = locate_each(gpus_.of_rank, *node_);
  note_other_gpus(request);
  DTS_ASSIGN(binding_, bind_node(*node_, request));
  users_ = users_of_cores(*binding_, node_->cores.size());
  links_ = rank_links(*node_, gpus_of_ranks(*binding_));
  return {};
}

void NodePlacement::fill(std::size_t i, Placement& placement) const {
  if (binding_) {
    take_cores(placement, *node_, binding_->ranks[i]);
    placement.home_cores = whole_cores(binding_->ranks[i].home, users_);
    take_memory(placement, *node_, binding_->ranks[i]);
    take_nics(placement, *node_, binding_->ranks[i]);
    placement.links = links_[i];
  }
  placement.gpus = names_of(i);
}

std::vector<std::string> NodePlacement::notes() const {
  std::vector<std::string> notes;
  if (!binding_) return notes;
  for (const std::string& reason : binding_->reasons) notes.push_back("binding: " + reason);
  for (const std::string& warning : binding_->warnings)
    notes.push_back("binding: warning: " + warning);
  if (by_type_.has_own_name)
    notes.push_back("binding: warning: " + own_name_warning(*node_, gpu_type_));
  return notes;
}

void NodePlacement::note_other_gpus(const BindRequest& request) {
  std::vector<unsigned> used = request.gpus;
  for (const auto& gpus : request.gpus_of) used.insert(used.end(), gpus.begin(), gpus.end());
  make_set(used);
  for (const unsigned gpu : used)
    if (is_in(by_type_.others, gpu)) other_gpus_.push_back(gpu);
}

NodePlacement::Names NodePlacement::names_of(std::size_t i) const {
  if (!gpus_.of_rank.empty()) return gpus_.of_rank[i];
  Names names;
  if (!divided_.empty())
    for (const unsigned place : divided_[i]) names.push_back(gpus_.all[place]);
  else if (binding_)
    for (const unsigned gpu : binding_->ranks[i].gpus)
      for (std::size_t place = 0; place < gpus_.indices.size(); ++place)
        if (gpus_.indices[place] == gpu) names.push_back(gpus_.all[place]);
  return names;
}

// For each rank, positions in the node's list of GPUs, in the order of the list. Used if GPUs
// cannot be located, if there is one GPU per rank, and for MIG instances, of which a process uses
// only the first. Empty: bind_node() decides.
std::vector<std::vector<unsigned>> NodePlacement::divide_gpus() const {
  std::vector<unsigned> different = gpus_.indices;
  make_set(different);
  if (different.size() == gpus_.all.size() && different.size() != ranks_.size()) return {};
  std::vector<unsigned> places(gpus_.all.size());
  std::iota(places.begin(), places.end(), 0U);
  return gpu_runs(places, static_cast<unsigned>(ranks_.size()));
}

}  // namespace dts::plan
