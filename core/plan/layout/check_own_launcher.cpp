// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/check_own_launcher.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::plan {
namespace {

// True for --machine_rank 1 and the like: the option gives the launcher the rank of its node.
bool is_told_its_node(const OwnLauncher& launcher) {
  return std::any_of(launcher.words.begin(), launcher.words.end(), [](std::string word) {
    std::replace(word.begin(), word.end(), '_', '-');
    return word.rfind("--machine-rank", 0) == 0 || word.rfind("--node-rank", 0) == 0;
  });
}

}  // namespace

void check_own_launcher(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  using Kind = OwnLauncher::Kind;
  const std::string where =
      launcher.wrapper.empty() ? "" : fmt::format(" (behind `{}`)", launcher.wrapper);
  if (launcher.kind == Kind::torchrun && plan.ntasks_per_node > 1)
    problems.push_back(
        {plan.hosts.empty() ? "--ntasks-per-node" : "--hosts",
         fmt::format("{}{} starts the {} processes of a node itself: {} of it would start {}",
                     launcher.name,
                     where,
                     plan.workers_per_task,
                     plan.ntasks_per_node,
                     std::uint64_t{plan.ntasks_per_node} * plan.workers_per_task),
         plan.hosts.empty() ? "omit --ntasks-per-node: one is started on each node"
                            : "name each host once, without a number of ranks"});
  const std::uint64_t ranks = std::uint64_t{plan.nodes} * plan.ntasks_per_node;
  const bool one_a_node = plan.ntasks_per_node == 1 && is_told_its_node(launcher);
  if (launcher.kind == Kind::other && ranks > 1 && !one_a_node)
    problems.push_back(
        {"command",
         fmt::format("{}{} starts the processes itself, and the job would start {} of it, one for "
                     "each rank",
                     launcher.name,
                     where,
                     ranks),
         "name the program that it starts: each rank gets RANK, WORLD_SIZE, LOCAL_RANK and "
         "MASTER_ADDR from dtsubmit; on one node --ntasks-per-node 1 starts the launcher once"});
}

}  // namespace dts::plan
