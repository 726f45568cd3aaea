// SPDX-License-Identifier: Apache-2.0
// Checks which ranks have started: verify_ranks().
#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/ranks_by_node.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::plan {
namespace {

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
  if (!twice.empty()) problems.push_back({"ranks", "present more than once: " + some(twice)});
  if (!beyond.empty())
    problems.push_back(
        {"ranks", fmt::format("not below the world size {}: {}", world, some(beyond))});
}

void check_node(const std::string& name,
                const NodeRanks& ranks,
                const Plan& plan,
                Diagnostics& problems) {
  if (ranks.size() > plan.ntasks_per_node)
    problems.push_back(
        {"node " + name,
         fmt::format("{}, {} planned", counted(ranks.size(), "rank"), plan.ntasks_per_node),
         "the launcher packed them: pass --ntasks-per-node, not only the number of tasks"});
  const bool share_gpus = plan.ntasks_per_node > plan.gpus_per_node;  // by --ntasks-per-gpu
  if (plan.gpus_per_node == 0 || share_gpus) return;
  std::size_t gpus = plan.gpus_per_node;
  // A separate list for each rank (Slurm's --gpu-bind) says nothing about the node; one list for
  // all ranks is what the job was given on the node.
  const auto same = [&](const RankHello* hello) { return hello->gpu_ids == ranks[0]->gpu_ids; };
  if (!ranks[0]->gpu_ids.empty() && std::all_of(ranks.begin(), ranks.end(), same))
    gpus = ranks[0]->gpu_ids.size();
  if (ranks.size() > gpus)
    problems.push_back(
        {"node " + name, counted(ranks.size(), "rank") + " for " + counted(gpus, "GPU")});
}

}  // namespace

std::map<std::string, NodeRanks> ranks_by_node(const std::vector<RankHello>& hellos) {
  std::map<std::string, NodeRanks> nodes;
  for (const RankHello& hello : hellos) nodes[hello.node].push_back(&hello);
  for (auto& [name, ranks] : nodes)
    std::sort(ranks.begin(), ranks.end(), [](const RankHello* a, const RankHello* b) {
      return std::pair(a->local_rank, a->rank) < std::pair(b->local_rank, b->rank);
    });
  return nodes;
}

Result<void> verify_ranks(const std::vector<RankHello>& hellos, const Plan& plan) {
  Diagnostics problems;
  for (const RankHello& hello : hellos) {
    if (hello.world_size != plan.world_size) {
      problems.push_back({fmt::format("rank {} on {}", hello.rank, hello.node),
                          fmt::format("its launcher reports a world of {}, {} are planned",
                                      hello.world_size,
                                      plan.world_size)});
      break;  // the others report the same, or are listed as missing below
    }
  }
  check_numbers(hellos, plan.world_size, problems);
  for (const auto& [name, ranks] : ranks_by_node(hellos)) check_node(name, ranks, plan, problems);
  if (problems.empty()) return {};
  return tl::unexpected(to_error(problems));
}

}  // namespace dts::plan
