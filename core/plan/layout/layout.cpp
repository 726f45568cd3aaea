// SPDX-License-Identifier: Apache-2.0
// make_plan(): the number of ranks, their width, and the reasons.
#include "core/base/default_shards.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/plan/layout/check_own_launcher.hpp"
#include "core/plan/layout/cpus.hpp"
#include "core/plan/layout/decide.hpp"
#include "core/plan/layout/fit.hpp"
#include "core/plan/layout/job_limits.hpp"
#include "core/plan/layout/memory_need.hpp"
#include "core/plan/layout/partition.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/program/job_name.hpp"
#include "core/spec/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace dts::plan {
namespace {

constexpr std::uint64_t k_most_ranks = 1'000'000;

void choose_environment(Plan& plan, const spec::JobSpec& spec) {
  plan.frameworks = spec.frameworks;
  plan.bind_threads = spec.bind_threads;
  plan.gpu_view = spec.gpu_view;
  plan.bind = spec.bind;
  plan.smt = spec.smt > 0 ? spec.smt : threads_per_core(spec);
  plan.cores_per_rank = spec.cores_per_rank;
  if (spec.bind.policy != spec::BindPolicy::automatic)
    decide(plan, "bind", spec.bind.text, k_as_asked);
  if (spec.frameworks != spec::all_frameworks())
    decide(plan,
           "framework",
           spec.frameworks.empty() ? "none" : join(spec.frameworks, ","),
           "as requested: no variables of others");
  if (spec.gpu_view != "auto") decide(plan, "gpu-view", spec.gpu_view, k_as_asked);
  if (spec.bind_threads == "none") return;
  const char* const but = spec.bind_threads == "auto" ? " but the main one" : "";
  const std::string why = fmt::format("as requested: one core for each OpenMP thread{}", but);
  decide(plan, "bind-threads", spec.bind_threads, why);
}

std::string cpus_per_node(const spec::JobSpec& spec, const Fit& fit) {
  const unsigned threads = threads_per_core(spec);
  return counted(fit.fewest_cpus, "CPU") + " per node" +
         (fit.mib_per_cpu == 0 ? "" : fmt::format(" with {} MiB each", fit.mib_per_cpu)) +
         (threads == 0 ? "" : fmt::format(" with {} per core", counted(threads, "thread"))) +
         (fit.rank_unit == 1 ? "" : " in whole cores");
}

void choose_tasks(Plan& plan,
                  const spec::JobSpec& spec,
                  const OwnLauncher& launcher,
                  const Fit& fit) {
  constexpr const char* k_what = "ntasks-per-node";
  if (spec.ntasks_per_node) {
    plan.ntasks_per_node = *spec.ntasks_per_node;
    return decide(plan, k_what, plan.ntasks_per_node, k_as_asked);
  }
  if (plan.workers_per_task > 0)
    return decide(
        plan,
        k_what,
        plan.ntasks_per_node,
        spec.per_node ? "--per-node" : launcher.name + " starts the node's processes itself");
  if (plan.gpus_per_node > 0) {
    plan.ntasks_per_node = plan.gpus_per_node;
    return decide(plan, k_what, plan.ntasks_per_node, "one rank per GPU");
  }
  if (spec.cpus_per_task.value_or(0) > 0 && fit.fewest_cpus >= *spec.cpus_per_task) {
    const unsigned each = taken_cpus(fit, *spec.cpus_per_task);
    plan.ntasks_per_node = std::max(1U, fit.fewest_cpus / each);
    return decide(plan,
                  k_what,
                  plan.ntasks_per_node,
                  fmt::format("{} / {} per rank", cpus_per_node(spec, fit), each));
  }
  const bool may_be_more = spec.cpus_per_task.value_or(0) > 0 && fit.fewest_cpus == 0;
  decide(plan,
         k_what,
         plan.ntasks_per_node,
         may_be_more ? "no GPUs requested and the nodes are not known: one rank per node; if they "
                       "were known, as many as their CPUs allow. --ntasks-per-node sets the number"
                     : "no GPUs requested: one rank per node");
}

// A host without its own number of slots gets the planned number of ranks.
void share_hosts(Plan& plan) {
  if (plan.hosts.empty()) return;
  unsigned most = 0;
  for (HostSlots& host : plan.hosts) {
    if (host.slots == 0) host.slots = plan.ntasks_per_node;
    most = std::max(most, host.slots);
  }
  if (most == plan.ntasks_per_node) return;
  plan.ntasks_per_node = most;
  decide(plan, "ntasks-per-node", most, "the most that --hosts gives to one of them");
}

void choose_launcher(Plan& plan, const spec::JobSpec& spec) {
  plan.launcher = spec.launcher;
  plan.srun_mpi = spec.mpi;
  std::string why = k_as_asked;
  if (!plan.hosts.empty()) {
    if (spec.launcher == spec::Launcher::automatic)
      why = "auto: it reaches --hosts without a scheduler";
    plan.launcher = spec::Launcher::ssh;
    plan.ssh = spec::ssh_words(spec.ssh_command);
  } else if (spec.launcher == spec::Launcher::automatic) {
    why =
        "that of the MPI that the program is linked with; mpirun if none is seen and the nodes "
        "have it, otherwise srun";
  }
  decide(plan, "launcher", spec::to_string(plan.launcher), why);
}

void choose_world_size(Plan& plan) {
  plan.world_size = plan.nodes * plan.ntasks_per_node;
  std::string why = counted(plan.nodes, "node") + " x " + counted(plan.ntasks_per_node, "rank");
  const auto differs = [&](const HostSlots& host) { return host.slots != plan.ntasks_per_node; };
  if (std::any_of(plan.hosts.begin(), plan.hosts.end(), differs)) {
    plan.world_size = 0;
    for (const HostSlots& host : plan.hosts) plan.world_size += host.slots;
    why = "as --hosts assigns them to " + counted(plan.nodes, "node");
  }
  decide(plan, "world-size", plan.world_size, why);
}

void choose_cpus(Plan& plan,
                 const spec::JobSpec& spec,
                 const ClusterView& cluster,
                 const Fit& fit) {
  constexpr const char* k_what = "cpus-per-task";
  if (spec.cpus_per_task) {
    plan.cpus_per_task = *spec.cpus_per_task;
    return decide(plan, k_what, plan.cpus_per_task, k_as_asked);
  }
  const unsigned tasks = std::max(1U, plan.ntasks_per_node);
  unsigned of_node = std::max(1U, fit.fewest_cpus / tasks);
  if (of_node > fit.rank_unit) of_node -= of_node % fit.rank_unit;
  // A job that shares its nodes takes what the site gives with a GPU, if it says so.
  const bool is_default = !spec.cpus_per_gpu && spec.slurm.count("exclusive") == 0;
  const unsigned per_gpu = spec.cpus_per_gpu.value_or(is_default ? fit.cpus_per_gpu : 0);
  const unsigned of_gpus = std::max(1U, per_gpu * plan.gpus_per_node / tasks);
  const bool has_room = !is_default || fit.fewest_cpus == 0 || of_gpus <= of_node;
  if (per_gpu > 0 && plan.gpus_per_node > 0 && has_room) {
    plan.cpus_per_task = of_gpus;
    return decide(plan,
                  k_what,
                  plan.cpus_per_task,
                  fmt::format("{} per GPU{}, {} shared by {}",
                              counted(per_gpu, "CPU"),
                              is_default ? " by the site's default" : "",
                              counted(plan.gpus_per_node, "GPU"),
                              counted(plan.ntasks_per_node, "rank")));
  }
  if (fit.fewest_cpus == 0)
    return decide(plan, k_what, plan.cpus_per_task, "the nodes' CPUs are not known");
  plan.cpus_per_task = of_node;
  if (const auto most = most_cpus_per_rank(plan, spec, cluster); most && most->cpus < of_node) {
    plan.cpus_per_task = most->cpus;
    return decide(plan, k_what, plan.cpus_per_task, "the most within " + most->why);
  }
  decide(plan,
         k_what,
         plan.cpus_per_task,
         fmt::format("{} / {}", cpus_per_node(spec, fit), counted(plan.ntasks_per_node, "rank")));
}

// Excludes the nodes to avoid, except as many as the job needs to run at all; those avoided longest
// are used again first.
void choose_exclusion(Plan& plan,
                      const spec::JobSpec& spec,
                      const ClusterView& cluster,
                      const Fit& fit) {
  constexpr const char* k_what = "exclude";
  if (!spec.exclude.empty()) {
    plan.exclude = expand_hostlist(spec.exclude).value_or(std::vector<std::string>());
    decide(plan, k_what, spec.exclude, k_as_asked);
  }
  const auto is_usable = [](const ClusterView::Node& node) { return node.up; };
  auto left = std::count_if(fit.nodes.begin(), fit.nodes.end(), is_usable);
  for (auto one = cluster.avoided.rbegin(); one != cluster.avoided.rend(); ++one) {
    const auto node = std::find_if(fit.nodes.begin(), fit.nodes.end(), [&](const auto& candidate) {
      return candidate.name == one->name;
    });
    if (node == fit.nodes.end()) continue;  // the job would not get this node anyway
    if (node->up && left <= std::int64_t{spec.nodes} + spec.spares) {
      decide(plan, "kept", one->name, one->why + ", but the job needs every node there is");
      continue;
    }
    if (node->up) --left;
    plan.exclude.push_back(one->name);
    decide(plan, k_what, one->name, one->why);
  }
}

void choose_command(Plan& plan, const spec::JobSpec& spec, const std::string& trainer) {
  plan.command = spec.command;
  if (!plan.command.empty()) return;
  plan.command = {trainer};
  if (plan.world_size > k_default_shards) {
    plan.command.push_back("--shards");
    plan.command.push_back(std::to_string(std::bit_ceil(plan.world_size)));
  }
  decide(plan, "command", trainer, "no command given: the bundled trainer");
}

void check_ranks(const Plan& plan, const spec::JobSpec& spec, Diagnostics& problems) {
  const bool may_share = spec.slurm.count("ntasks-per-gpu") > 0;
  if (plan.gpus_per_node > 0 && plan.ntasks_per_node > plan.gpus_per_node && !may_share)
    problems.push_back(
        {"--ntasks-per-node",
         fmt::format("{} per node for {}: {} would have none",
                     counted(plan.ntasks_per_node, "rank"),
                     counted(plan.gpus_per_node, "GPU"),
                     plan.ntasks_per_node - plan.gpus_per_node),
         fmt::format("use --ntasks-per-node {} (the default), or --ntasks-per-gpu if "
                     "ranks are to share GPUs",
                     plan.gpus_per_node)});
  const std::uint64_t ranks = std::uint64_t{plan.nodes} * plan.ntasks_per_node;
  if (ranks > k_most_ranks)
    problems.push_back(
        {"--nodes", fmt::format("{} ranks in all, more than {}", ranks, k_most_ranks)});
}

unsigned sum_of(const std::vector<unsigned>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0U);
}

}  // namespace

unsigned gpus_of_node(const Plan& plan) {
  return plan.shared ? sum_of(plan.shared->gpus) : plan.gpus_per_node;
}

unsigned cpus_of_node(const Plan& plan) {
  return plan.shared ? sum_of(plan.shared->cpus) : plan.ntasks_per_node * plan.cpus_per_task;
}

tl::expected<Plan, Diagnostics> make_plan(const spec::JobSpec& spec,
                                          const ClusterView& cluster,
                                          const std::string& trainer) {
  Diagnostics problems = spec::validate(spec);
  const Fit fit = fit_nodes(spec, cluster, problems);
  Plan plan;
  plan.hosts = expand_host_slots(spec.hosts).value_or(std::vector<HostSlots>());
  plan.nodes = plan.hosts.empty() ? spec.nodes : static_cast<unsigned>(plan.hosts.size());
  plan.gpus_per_node = spec.gpus_per_node.value_or(0);
  plan.job_name = spec.job_name;
  if (plan.job_name.empty()) plan.job_name = not_interactive(default_job_name(spec.command));
  decide(
      plan, "job-name", plan.job_name, spec.job_name.empty() ? "the program's name" : k_as_asked);
  decide(plan,
         "nodes",
         plan.nodes,
         !plan.hosts.empty() ? "--hosts names them"
         : plan.nodes == 1   ? "one, as --nodes requests no more"
                             : k_as_asked);
  decide(
      plan, "gpus-per-node", plan.gpus_per_node, spec.gpus_per_node ? k_as_asked : "not requested");
  if (spec.spares > 0) decide(plan, "spares", plan.spares = spec.spares, k_as_asked);
  choose_exclusion(plan, spec, cluster, fit);
  note_closed_partition(plan, fit);
  const OwnLauncher launcher = find_own_launcher(spec.command);
  choose_workers(plan, spec, launcher);
  choose_tasks(plan, spec, launcher, fit);
  share_hosts(plan);
  choose_cpus(plan, spec, cluster, fit);
  choose_environment(plan, spec);
  check_ranks(plan, spec, problems);
  check_workers(plan, spec, launcher, problems);
  const bool is_by_hand = spec.per_rank || (spec.per_node && launcher.place_options.empty());
  if (!is_by_hand) check_own_launcher(plan, launcher, problems);
  check_cpus(spec, fit, plan.ntasks_per_node, plan.cpus_per_task, problems);
  check_memory_need(spec, fit, std::uint64_t{plan.ntasks_per_node} * plan.cpus_per_task, problems);
  check_job_limits(plan, spec, cluster, fit, problems);
  choose_launcher(plan, spec);
  check_step_size(plan, cluster, problems);
  if (!plan.hosts.empty() && spec.command.empty())
    problems.push_back({"--hosts",
                        "the bundled trainer needs MPI, which ssh does not provide",
                        "name a program after `--`"});
  choose_margin(plan, spec, fit, problems);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  choose_world_size(plan);
  choose_command(plan, spec, trainer);
  return plan;
}

}  // namespace dts::plan
