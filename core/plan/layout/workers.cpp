// SPDX-License-Identifier: Apache-2.0
// Programs that start a node's processes themselves: how many, and which options conflict with
// that.
#include "core/base/text/text.hpp"
#include "core/plan/layout/decide.hpp"
#include "core/plan/program/own_launcher.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::plan {
namespace {

constexpr std::uint64_t k_most_workers = 1'000'000;

// The number in the launcher's own option: --nproc_per_node=8, --num_processes 16.
std::optional<unsigned> asked_workers(const OwnLauncher& launcher, unsigned nodes) {
  const auto number = parse_number(option_of(launcher, launcher.count).value_or(""));
  if (!number || *number < 1 || *number > k_most_workers) return std::nullopt;
  if (!launcher.counts_all) return static_cast<unsigned>(*number);
  if (*number % nodes != 0) return std::nullopt;
  return static_cast<unsigned>(*number / nodes);
}

std::string first_word(std::string_view words) {
  return std::string(words.substr(0, words.find(' ')));
}

}  // namespace

void choose_workers(Plan& plan, const spec::JobSpec& spec, const OwnLauncher& launcher) {
  if (spec.per_rank) return;
  const bool is_known = starts_processes_of_node(launcher);
  if (!is_known && !spec.per_node) return;
  const std::string name = is_known ? launcher.name : "--per-node";
  const auto asked = is_known ? asked_workers(launcher, plan.nodes) : std::nullopt;
  plan.workers_per_task = asked.value_or(std::max(1U, plan.gpus_per_node));
  if (is_known && option_of(launcher, launcher.single)) {
    plan.workers_per_task = 1;
    return decide(plan, "workers-per-task", 1, fmt::format("{} of {}", launcher.single, name));
  }
  decide(plan,
         "workers-per-task",
         plan.workers_per_task,
         asked                    ? first_word(launcher.count) + " of " + name
         : plan.gpus_per_node > 0 ? name + ": one process per GPU"
                                  : name + " without GPUs: one process");
}

void check_workers(const Plan& plan,
                   const spec::JobSpec& spec,
                   const OwnLauncher& launcher,
                   Diagnostics& problems) {
  if (spec.per_node && spec.per_rank)
    problems.push_back({"--per-node", "contradicts --per-rank", "omit one of them"});
  if (spec.per_node && spec.ntasks_per_node.value_or(1) > 1)
    problems.push_back({"--per-node",
                        "contradicts --ntasks-per-node " + std::to_string(*spec.ntasks_per_node),
                        "omit --ntasks-per-node"});
  const std::string name = launcher.name.empty() ? "--per-node" : launcher.name;
  if (const auto asked = asked_workers(launcher, plan.nodes);
      plan.workers_per_task == 1 && asked.value_or(1) > 1)
    problems.push_back(
        {"command",
         fmt::format("{} with {} starts one process on each node, not the {} of {}",
                     name,
                     launcher.single,
                     *asked,
                     first_word(launcher.count)),
         fmt::format("start the ranks without it: --ntasks-per-node {} -- python3 ...", *asked)});
  const auto& families = spec.frameworks;
  if (plan.workers_per_task > 0 &&
      std::find(families.begin(), families.end(), "torch") == families.end())
    problems.push_back({"--framework", name + " needs the variables of torch", "add torch"});
  if (plan.workers_per_task > 1 && spec.bind_threads != "none")
    problems.push_back(
        {"--bind-threads",
         name + ": its processes share one environment, and all would be on the same cores",
         "omit it, or start the processes without " + name});
}

}  // namespace dts::plan
