// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/partition.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/plan/layout/decide.hpp"
#include "core/plan/layout/job_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace dts::plan {
namespace {

using Partition = ClusterView::Partition;

const Partition* partition_named(const std::string& name,
                                 const ClusterView& cluster,
                                 Diagnostics& problems) {
  std::vector<std::string> names;
  for (const Partition& partition : cluster.partitions) {
    if (name.empty() ? partition.is_default : partition.name == name) return &partition;
    names.push_back(partition.name);
  }
  if (names.empty()) return nullptr;  // nothing is known
  const std::string all = "there are: " + join(names, ", ");
  const auto near = nearest(name, names);
  if (name.empty())
    problems.push_back({"--partition", "none given, and the cluster has no default", all});
  else
    problems.push_back({"--partition",
                        fmt::format("no partition `{}`", name),
                        near ? fmt::format("did you mean `{}`? {}", *near, all) : all});
  return nullptr;
}

// 0 is no limit.
template <class Number>
Number larger_limit(Number one, Number other) {
  return one > 0 && other > 0 ? std::max(one, other) : 0;
}

// A QOS may exempt its jobs (PartitionTimeLimit, sacctmgr(1)).
void check_time(const spec::JobSpec& spec, const Partition& partition, Diagnostics& problems) {
  if (spec.slurm.count("qos") > 0) return;
  if (!spec.time || partition.max_time.count() == 0 || *spec.time <= partition.max_time) return;
  problems.push_back({"--time",
                      fmt::format("{} exceeds partition {}'s limit of {}",
                                  format_time_limit(*spec.time),
                                  partition.name,
                                  format_time_limit(partition.max_time)),
                      "ask for less: the run continues in further attempts"});
}

// A QOS may exempt its jobs from both limits (PartitionMinNodes and PartitionMaxNodes,
// sacctmgr(1)).
void check_nodes(const spec::JobSpec& spec, const Partition& partition, Diagnostics& problems) {
  if (spec.slurm.count("qos") > 0) return;
  const unsigned wanted = spec.nodes + spec.spares;
  const bool are_many = partition.max_nodes > 0 && wanted > partition.max_nodes;
  if (!are_many && wanted >= partition.min_nodes) return;
  problems.push_back({"--nodes",
                      fmt::format("{} requested, but partition {} gives a job at {} {}",
                                  counted(wanted, "node"),
                                  partition.name,
                                  are_many ? "most" : "least",
                                  are_many ? partition.max_nodes : partition.min_nodes),
                      "ask for another number, or for another partition"});
}

void check_memory(const spec::JobSpec& spec, const Partition& partition, Diagnostics& problems) {
  const std::uint64_t wanted = spec.memory_mib.value_or(0);
  if (partition.max_memory_mib == 0 || wanted <= partition.max_memory_mib) return;
  problems.push_back({"--mem",
                      fmt::format("{} MiB requested, but partition {} gives a job at most {} of a "
                                  "node",
                                  wanted,
                                  partition.name,
                                  partition.max_memory_mib),
                      "ask for less, or for another partition"});
}

}  // namespace

void check_each(const spec::JobSpec& spec, const ClusterView& cluster, Diagnostics& problems) {
  std::vector<std::string> refusals;
  for (const std::string& name : split(spec.partition, ',')) {
    Diagnostics own;
    const Partition* one = partition_named(name, cluster, own);
    if (one == nullptr) return;
    check_limits(spec, *one, own);
    if (own.empty()) return;
    refusals.push_back(own.front().where + ": " + own.front().message);
  }
  problems.push_back({"--partition", "none of them takes the job", join(refusals, "; ")});
}

void note_closed_partition(Plan& plan, const Fit& fit) {
  if (fit.up && !fit.is_empty) return;
  decide(plan,
         k_waits,
         std::string(),
         fmt::format("partition {} {} now: jobs may wait in it, none starts",
                     fit.partition,
                     fit.is_empty ? "has no nodes" : "is not up"));
}

void check_step_size(Plan& plan, const ClusterView& cluster, Diagnostics& problems) {
  const unsigned most = cluster.max_step_ranks_per_node;
  plan.most_srun_ranks = most;
  if (most == 0 || plan.ntasks_per_node <= most) return;
  const std::string limit =
      fmt::format("srun starts at most {} on a node (MaxTasksPerNode)", counted(most, "rank"));
  if (plan.launcher == spec::Launcher::srun)
    problems.push_back(
        {"--ntasks-per-node",
         fmt::format("{} per node requested, but {}", counted(plan.ntasks_per_node, "rank"), limit),
         "ask for fewer, or use --launcher mpirun"});
  if (plan.launcher == spec::Launcher::automatic) decide(plan, k_not_by_srun, std::string(), limit);
}

std::optional<ClusterView::Partition> find_partition(const spec::JobSpec& spec,
                                                     const ClusterView& cluster,
                                                     Diagnostics& problems) {
  std::optional<Partition> all;
  bool starts_jobs = false;
  for (const std::string& name : split(spec.partition, ',')) {
    const Partition* one = partition_named(name, cluster, problems);
    if (one == nullptr) return std::nullopt;
    starts_jobs = starts_jobs || (one->up && !one->nodes.empty());
    if (!all) {
      all = *one;
      continue;
    }
    all->name += "," + one->name;
    all->nodes.insert(all->nodes.end(), one->nodes.begin(), one->nodes.end());
    const bool is_known = all->max_time.count() > 0 && one->max_time.count() > 0;
    all->max_time = is_known ? std::max(all->max_time, one->max_time) : std::chrono::seconds(0);
    // One that is up may have no nodes, and one with nodes may be down.
    all->up = starts_jobs || (all->nodes.empty() && (all->up || one->up));
    all->min_nodes = std::min(all->min_nodes, one->min_nodes);
    all->max_nodes = larger_limit(all->max_nodes, one->max_nodes);
    all->max_cpus_per_node = larger_limit(all->max_cpus_per_node, one->max_cpus_per_node);
    all->max_memory_mib = larger_limit(all->max_memory_mib, one->max_memory_mib);
    if (all->memory != one->memory) all->memory.reset();
    if (all->cpus_per_gpu != one->cpus_per_gpu) all->cpus_per_gpu = 0;
  }
  return all;
}

std::vector<const ClusterView::Partition*> partitions_named(const spec::JobSpec& spec,
                                                            const ClusterView& cluster) {
  std::vector<const ClusterView::Partition*> all;
  if (spec.partition.empty() && spec.slurm.count("reservation") > 0) return all;  // it has its own
  for (const std::string& name : split(spec.partition, ','))
    for (const ClusterView::Partition& partition : cluster.partitions)
      if (name.empty() ? partition.is_default : partition.name == name) all.push_back(&partition);
  return all;
}

// Of several partitions, Slurm takes the default of one when the job is submitted, and which one
// depends on its release.
DefaultLimit default_limit(const spec::JobSpec& spec, const ClusterView& cluster) {
  std::vector<std::chrono::seconds> limits;
  bool is_certain = !cluster.may_change_jobs;
  for (const Partition* partition : partitions_named(spec, cluster)) {
    const bool has_default = partition->default_time.count() > 0;
    const auto own = has_default ? partition->default_time : partition->max_time;
    is_certain = is_certain && has_default && (limits.empty() || limits.front() == own);
    if (own.count() > 0) limits.push_back(own);
  }
  if (limits.empty()) return {};
  return {*std::ranges::min_element(limits), is_certain};
}

void check_limits(const spec::JobSpec& spec, const Partition& partition, Diagnostics& problems) {
  check_time(spec, partition, problems);
  check_nodes(spec, partition, problems);
  check_memory(spec, partition, problems);
}

}  // namespace dts::plan
