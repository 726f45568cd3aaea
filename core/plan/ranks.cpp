// SPDX-License-Identifier: Apache-2.0
// Who is there, and who goes where: verify_ranks() and place_ranks().
#include "core/base/text.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/share_cores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dts::plan {
namespace {

using Node = std::vector<const RankHello*>;  // the ranks of one node, by local rank

// By node name; within a node in the launcher's order.
std::map<std::string, Node> by_node(const std::vector<RankHello>& hellos) {
  std::map<std::string, Node> nodes;
  for (const RankHello& hello : hellos) nodes[hello.node].push_back(&hello);
  for (auto& [name, ranks] : nodes)
    std::sort(ranks.begin(), ranks.end(), [](const RankHello* a, const RankHello* b) {
      return std::pair(a->local_rank, a->rank) < std::pair(b->local_rank, b->rank);
    });
  return nodes;
}

// "0, 1, 2, ... (14 in all)"
std::string some(const std::vector<unsigned>& ranks) {
  constexpr std::size_t k_shown = 8;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(ranks.size(), k_shown); ++i)
    words.push_back(std::to_string(ranks[i]));
  return join(words, ", ") +
         (ranks.size() > k_shown ? fmt::format(", ... ({} in all)", ranks.size()) : "");
}

void check_numbers(const std::vector<RankHello>& hellos, unsigned world, Diagnostics& problems) {
  std::vector<unsigned> seen(world, 0), missing, twice, beyond;
  for (const RankHello& hello : hellos) {
    if (hello.rank >= world)
      beyond.push_back(hello.rank);
    else if (++seen[hello.rank] == 2)
      twice.push_back(hello.rank);
  }
  for (unsigned rank = 0; rank < world; ++rank)
    if (seen[rank] == 0) missing.push_back(rank);
  if (!missing.empty()) problems.push_back({"ranks", "missing: " + some(missing)});
  if (!twice.empty()) problems.push_back({"ranks", "there more than once: " + some(twice)});
  if (!beyond.empty())
    problems.push_back(
        {"ranks", fmt::format("not below the world size {}: {}", world, some(beyond))});
}

void check_node(const std::string& name,
                const Node& ranks,
                const Plan& plan,
                Diagnostics& problems) {
  if (ranks.size() > plan.ntasks_per_node)
    problems.push_back(
        {"node " + name,
         fmt::format("{} ranks, {} planned", ranks.size(), plan.ntasks_per_node),
         "the launcher packed them: pass --ntasks-per-node, not only the number of tasks"});
  if (plan.gpus_per_node == 0) return;
  std::size_t gpus = plan.gpus_per_node;
  // A list per rank (Slurm's --gpu-bind) says nothing of the node; one list for all is what the
  // node gave us.
  const auto same = [&](const RankHello* hello) { return hello->gpu_ids == ranks[0]->gpu_ids; };
  if (!ranks[0]->gpu_ids.empty() && std::all_of(ranks.begin(), ranks.end(), same))
    gpus = ranks[0]->gpu_ids.size();
  if (ranks.size() > gpus)
    problems.push_back({"node " + name, fmt::format("{} ranks for {} GPUs", ranks.size(), gpus)});
}

void take_cores(Placement& placement,
                const std::vector<topo::Core>& cores,
                const RankBinding& share) {
  std::vector<unsigned> all = share.home;
  all.insert(all.end(), share.annex.begin(), share.annex.end());
  std::sort(all.begin(), all.end());
  for (const unsigned core : all) {
    const std::vector<unsigned>& pus = cores[core].pus;
    placement.cpus.insert(placement.cpus.end(), pus.begin(), pus.end());
    placement.first_cpus.push_back(pus.front());
  }
  std::sort(placement.cpus.begin(), placement.cpus.end());
  placement.cores = static_cast<unsigned>(std::max<std::size_t>(1, all.size()));
}

// The GPUs of local rank `i`: its own list where the launcher gave each rank another one, else its
// share of the node's.
std::vector<std::string> share_gpus(const Node& ranks, std::size_t i, unsigned gpus_per_node) {
  if (gpus_per_node == 0) return {};
  std::vector<std::string> all = ranks[0]->gpu_ids;
  for (const RankHello* hello : ranks)
    if (hello->gpu_ids != all) return ranks[i]->gpu_ids;
  if (all.empty())
    for (unsigned gpu = 0; gpu < gpus_per_node; ++gpu) all.push_back(std::to_string(gpu));
  const std::size_t count = std::min<std::size_t>(all.size(), gpus_per_node);
  const auto at = [&](std::size_t k) {
    return all.begin() + static_cast<std::ptrdiff_t>(k * count / ranks.size());
  };
  return {at(i), at(i + 1)};
}

using GpuLists = std::vector<std::vector<std::string>>;  // by local rank

// Which of the node's GPUs those of each rank are. Numbers mean PCI order where they name all the
// node has; a part of them can be counted within the job's share, and then nothing is known.
std::vector<std::vector<unsigned>> locate(const GpuLists& lists, std::size_t there) {
  std::set<std::size_t> numbers;
  for (const auto& list : lists)
    for (const std::string& id : list)
      if (const auto number = parse_number(id); number && *number < there) numbers.insert(*number);
  std::vector<std::vector<unsigned>> located(lists.size());
  if (there == 0 || numbers.size() != there) return located;
  for (std::size_t rank = 0; rank < lists.size(); ++rank)
    for (const std::string& id : lists[rank])
      if (const auto number = parse_number(id); number && *number < there)
        located[rank].push_back(static_cast<unsigned>(*number));
  return located;
}

}  // namespace

Result<void> verify_ranks(const std::vector<RankHello>& hellos, const Plan& plan) {
  Diagnostics problems;
  for (const RankHello& hello : hellos) {
    if (hello.world_size != plan.world_size) {
      problems.push_back({fmt::format("rank {} on {}", hello.rank, hello.node),
                          fmt::format("its launcher says a world of {}, planned are {}",
                                      hello.world_size,
                                      plan.world_size)});
      break;  // the others say the same, or are missing below
    }
  }
  check_numbers(hellos, plan.world_size, problems);
  for (const auto& [name, ranks] : by_node(hellos)) check_node(name, ranks, plan, problems);
  if (problems.empty()) return {};
  return tl::unexpected(to_error(problems));
}

std::vector<Placement> place_ranks(const std::vector<RankHello>& hellos,
                                   const Plan& plan,
                                   const std::map<std::string, topo::NodeTopology>& topologies) {
  std::vector<Placement> placements;
  for (const auto& [name, ranks] : by_node(hellos)) {
    const auto topology = topologies.find(name);
    GpuLists gpus;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      gpus.push_back(share_gpus(ranks, i, plan.gpus_per_node));
    std::vector<RankBinding> shares;
    if (topology != topologies.end())
      shares = share_cores(topology->second, locate(gpus, topology->second.gpus.size()));
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      Placement placement;
      placement.rank = ranks[i]->rank;
      placement.local_rank = static_cast<unsigned>(i);
      placement.local_world_size = static_cast<unsigned>(ranks.size());
      placement.node = name;
      if (!shares.empty()) take_cores(placement, topology->second.cores, shares[i]);
      placement.gpus = std::move(gpus[i]);
      placements.push_back(std::move(placement));
    }
  }
  std::sort(placements.begin(), placements.end(), [](const Placement& a, const Placement& b) {
    return a.rank < b.rank;
  });
  std::map<std::string, unsigned> node_ranks;
  for (Placement& placement : placements)
    placement.node_rank =
        node_ranks.try_emplace(placement.node, static_cast<unsigned>(node_ranks.size()))
            .first->second;
  return placements;
}

}  // namespace dts::plan
