// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/cpus.hpp"

#include "core/base/text/text.hpp"
#include "core/plan/layout/partition.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace dts::plan {
namespace {

std::string value_of(const spec::JobSpec& spec, const std::string& option) {
  const auto found = spec.slurm.find(option);
  return found == spec.slurm.end() ? "" : found->second;
}

std::optional<unsigned> number_of(const spec::JobSpec& spec, const std::string& option) {
  const auto number = parse_number(value_of(spec, option));
  return number ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

// The CPUs that the job asks to reserve for the system; nullopt: it does not ask.
std::optional<unsigned> reserved_by(const spec::JobSpec& spec, unsigned cpus_per_core) {
  if (const auto threads = number_of(spec, "thread-spec")) return threads;
  const auto cores = number_of(spec, "core-spec");
  return cores ? std::optional(*cores * cpus_per_core) : std::nullopt;
}

unsigned without_reserved(unsigned reserved,
                          const ClusterView::Node& node,
                          const spec::JobSpec& spec,
                          unsigned limit) {
  unsigned cpus = node.cpus - std::min(reserved, node.cpus);
  const unsigned threads = threads_per_core(spec);
  if (threads > 0 && threads < node.cpus_per_core) cpus = cpus / node.cpus_per_core * threads;
  return limit > 0 ? std::min(cpus, limit) : cpus;
}

unsigned used_of_core(const spec::JobSpec& spec, unsigned cpus_per_core) {
  const unsigned threads = threads_per_core(spec);
  return threads == 0 ? cpus_per_core : std::min(threads, cpus_per_core);
}

}  // namespace

unsigned threads_per_core(const spec::JobSpec& spec) {
  if (const auto threads = number_of(spec, "threads-per-core")) return *threads;
  const std::vector<std::string> parts = split(value_of(spec, "extra-node-info"), ':');
  const auto threads = parts.size() == 3 ? parse_number(parts[2]) : std::nullopt;
  if (threads.value_or(0) > 0) return static_cast<unsigned>(*threads);
  const std::string hint = value_of(spec, "hint");
  return hint.empty() || hint == "multithread" ? 0 : 1;
}

unsigned cpus_per_core(const ClusterView& cluster, const topo::NodeTopology& node) {
  unsigned most = 1;
  for (const ClusterView::Node& one : cluster.nodes) most = std::max(most, one.cpus_per_core);
  if (!cluster.nodes.empty()) return most;
  for (const topo::Core& core : node.cores)
    most = std::max(most, static_cast<unsigned>(core.pus.size()));
  return most;
}

unsigned whole_cores(unsigned cpus, const spec::JobSpec& spec, unsigned cpus_per_core) {
  const unsigned of_core = used_of_core(spec, cpus_per_core);
  return (cpus + of_core - 1) / of_core;
}

unsigned sure_cpus(const ClusterView::Node& node, const spec::JobSpec& spec, unsigned limit) {
  const unsigned asked = reserved_by(spec, node.cpus_per_core).value_or(0);
  return without_reserved(std::max(asked, node.reserved_cpus), node, spec, limit);
}

unsigned possible_cpus(const ClusterView::Node& node, const spec::JobSpec& spec, unsigned limit) {
  const bool asks = reserved_by(spec, node.cpus_per_core).has_value();
  return without_reserved(asks ? 0 : node.reserved_cpus, node, spec, limit);
}

unsigned rank_unit(const ClusterView::Node& node,
                   const spec::JobSpec& spec,
                   bool one_rank_per_core) {
  const auto most = number_of(spec, "ntasks-per-core");
  // With this hint, sbatch permits any number of ranks on a core, which slurmctld (22.05) ignores
  // for jobs with GPUs.
  const bool lifts = value_of(spec, "hint") == "multithread" && spec.gpus_per_node.value_or(0) == 0;
  const bool is_default = one_rank_per_core && !lifts;
  const bool share_none = most ? *most == 1 : is_default;
  if (!share_none || spec.slurm.count("overcommit") > 0) return 1;
  return used_of_core(spec, node.cpus_per_core);
}

std::optional<CpuLimit> most_cpus_per_rank(const Plan& plan,
                                           const spec::JobSpec& spec,
                                           const ClusterView& cluster) {
  const auto partitions = partitions_named(spec, cluster);
  if (partitions.size() != 1 || spec.slurm.count("overcommit") > 0 || cluster.may_change_jobs)
    return std::nullopt;
  std::optional<CpuLimit> most;
  for (const JobLimit& limit : partitions.front()->limits) {
    if (limit.of != JobLimit::Of::cpus || limit.is_least || limit.is_with_time) continue;
    const std::uint64_t nodes = limit.is_per_node ? 1 : plan.nodes + plan.spares;
    const std::uint64_t ranks = std::max<std::uint64_t>(1, nodes * plan.ntasks_per_node);
    const auto each = static_cast<unsigned>(
        std::min<std::uint64_t>(limit.amount / ranks, std::numeric_limits<unsigned>::max()));
    if (!most || each < most->cpus) most = CpuLimit{each, limit.name};
  }
  return most && most->cpus > 0 ? most : std::nullopt;
}

}  // namespace dts::plan
