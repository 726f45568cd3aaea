// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/fit.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/plan/layout/cpus.hpp"
#include "core/plan/layout/memory_need.hpp"
#include "core/plan/layout/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace dts::plan {
namespace {

using Node = ClusterView::Node;
using Amount = std::function<std::uint64_t(const Node&)>;

std::string names_of(const std::vector<Node>& nodes) {
  std::vector<std::string> names;
  for (const Node& node : nodes) names.push_back(node.name);
  std::string text = fold_hostlist(names);
  if (text.size() > 120) text = text.substr(0, 117) + "...";
  return text;
}

std::vector<Node> with_at_least(const std::vector<Node>& nodes,
                                const Amount& amount,
                                std::uint64_t least) {
  std::vector<Node> enough;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(enough), [&](const Node& n) {
    return amount(n) >= least;
  });
  return enough;
}

// A quantity that every node of the job needs.
struct Demand {
  const char* option;  // "--gpus-per-node"
  std::string what;    // "GPUs"
  std::uint64_t need;
  Amount amount;
  std::string has = "has", have = "have";
};

// The nodes that have enough. Appends a problem if they are fewer than wanted. `nodes` must not be
// empty.
std::vector<Node> demand(const std::vector<Node>& nodes,
                         const Demand& d,
                         const std::string& scope,
                         unsigned wanted,
                         Diagnostics& problems) {
  std::vector<Node> enough = with_at_least(nodes, d.amount, d.need);
  if (enough.size() >= std::min<std::size_t>(wanted, nodes.size())) return enough;
  const auto largest =
      std::max_element(nodes.begin(), nodes.end(), [&](const Node& a, const Node& b) {
        return d.amount(a) < d.amount(b);
      });
  const std::uint64_t most = d.amount(*largest);
  const std::vector<Node> best = with_at_least(nodes, d.amount, most);
  if (enough.empty())
    problems.push_back(
        {d.option,
         fmt::format(
             "{} {} per node requested, but the maximum{} is {}", d.need, d.what, scope, most),
         fmt::format("node{} {} {} {}",
                     best.size() == 1 ? "" : "s",
                     names_of(best),
                     best.size() == 1 ? d.has : d.have,
                     most)});
  else
    problems.push_back(
        {d.option,
         fmt::format("only {} node{}{} {} {} {}, {} requested",
                     enough.size(),
                     enough.size() == 1 ? "" : "s",
                     scope,
                     enough.size() == 1 ? d.has : d.have,
                     d.need,
                     d.what,
                     wanted),
         fmt::format("{}: ask for fewer nodes or fewer {}", names_of(enough), d.what)});
  return enough;
}

unsigned gpus_of(const Node& node, const std::string& type) {
  const auto found = node.gpu_types.find(type);
  return found == node.gpu_types.end() ? 0 : found->second;
}

// The nodes with enough GPUs of the requested type. Types count only if the scheduler names any
// (`gpu_types` of a plug-in is optional); otherwise it decides itself.
std::vector<Node> demand_gpus(const std::vector<Node>& nodes,
                              const ClusterView& cluster,
                              const spec::JobSpec& spec,
                              const std::string& scope,
                              unsigned wanted,
                              Diagnostics& problems) {
  const char* option = "--gpus-per-node";
  const std::string& type = spec.gpu_type;
  const bool has_any =
      std::any_of(nodes.begin(), nodes.end(), [](const Node& n) { return n.gpus > 0; });
  const bool names_types = std::any_of(cluster.nodes.begin(),
                                       cluster.nodes.end(),
                                       [](const Node& n) { return !n.gpu_types.empty(); });
  if (type.empty() || !has_any || !names_types)
    return demand(nodes,
                  {option, "GPUs", *spec.gpus_per_node, [](const Node& n) { return n.gpus; }},
                  scope,
                  wanted,
                  problems);
  std::set<std::string> types;
  for (const Node& node : nodes)
    for (const auto& [name, number] : node.gpu_types) types.insert(name);
  if (types.count(type) > 0)
    return demand(nodes,
                  {option,
                   "GPUs of type " + type,
                   *spec.gpus_per_node,
                   [&](const Node& n) { return gpus_of(n, type); }},
                  scope,
                  wanted,
                  problems);
  const std::vector<std::string> names(types.begin(), types.end());
  problems.push_back(
      {option,
       fmt::format("no node{} has GPUs of type `{}`", scope, type),
       names.empty()
           ? fmt::format(
                 "the site names no types of GPUs there; use {} {}", option, *spec.gpus_per_node)
           : "there are: " + join(names, ", ")});
  return {};
}

// The nodes that the job may get, and how a message names them.
struct Candidates {
  std::vector<Node> nodes;
  std::size_t size = 0;  // includes those of the partition about which nothing is known
  std::string scope;     // " in partition gpu without n3"
};

Candidates find_candidates(const spec::JobSpec& spec,
                           const ClusterView& cluster,
                           const std::optional<ClusterView::Partition>& partition) {
  Candidates found;
  std::set<std::string> members, excluded;
  if (partition) {
    found.scope = " in partition " + partition->name;
    members.insert(partition->nodes.begin(), partition->nodes.end());
  }
  for (std::string& node : expand_hostlist(spec.exclude).value_or(std::vector<std::string>()))
    if (members.erase(node) > 0 || !partition) excluded.insert(std::move(node));
  if (!excluded.empty()) found.scope += " without " + spec.exclude;
  for (const Node& node : cluster.nodes)
    if (!partition ? excluded.count(node.name) == 0 : members.count(node.name) > 0)
      found.nodes.push_back(node);
  found.size = members.empty() ? found.nodes.size() : members.size();
  return found;
}

void check_size(unsigned wanted, const Candidates& found, Diagnostics& problems) {
  if (found.size > 0 && found.size < wanted)
    problems.push_back({"--nodes",
                        fmt::format("{} requested, but there {} {}{}",
                                    counted(wanted, "node"),
                                    found.size == 1 ? "is" : "are",
                                    found.size,
                                    found.scope),
                        fmt::format("ask for {} or fewer", found.size)});
}

// CPUs for the ranks of a node; room for the ranks themselves, if they take more CPUs of some nodes
// than of others.
Demand demand_for_ranks(const std::vector<Node>& nodes,
                        const spec::JobSpec& spec,
                        const Fit& fit,
                        unsigned tasks,
                        unsigned cpus_per_task) {
  const char* option = spec.cpus_per_task ? "--cpus-per-task" : "--ntasks-per-node";
  const auto taken = [&spec, &fit, cpus_per_task](const Node& n) {
    return in_units(cpus_per_task, rank_unit(n, spec, fit.one_rank_per_core));
  };
  const auto cpus = [&spec, &fit](const Node& n) {
    return possible_cpus(n, spec, fit.max_cpus_per_node);
  };
  const unsigned first = taken(nodes.front());
  if (std::ranges::all_of(nodes, [&](const Node& n) { return taken(n) == first; }))
    return {option, "CPUs", std::uint64_t{tasks} * first, cpus};
  return {option,
          fmt::format("rank{} with {}", tasks == 1 ? "" : "s", counted(cpus_per_task, "CPU")),
          tasks,
          [taken, cpus](const Node& n) { return cpus(n) / taken(n); },
          "has room for",
          "have room for"};
}

// Some sites hide their nodes, and a plug-in need not name them.
bool tells_nodes(const ClusterView& cluster) {
  return !cluster.nodes.empty() &&
         std::ranges::any_of(cluster.partitions, [](const ClusterView::Partition& partition) {
           return !partition.nodes.empty();
         });
}

}  // namespace

Fit fit_nodes(const spec::JobSpec& spec, const ClusterView& cluster, Diagnostics& problems) {
  Fit fit;
  fit.one_rank_per_core = cluster.one_rank_per_core;
  const auto partition = find_partition(spec, cluster, problems);
  if (!cluster.partitions.empty() && !partition) return fit;
  if (partition) {
    fit.partition = partition->name;
    fit.up = partition->up;
    fit.is_empty = partition->nodes.empty() && tells_nodes(cluster);
    fit.default_limit = default_limit(spec, cluster);
    fit.max_cpus_per_node = partition->max_cpus_per_node;
    fit.max_memory_mib = partition->max_memory_mib;
    fit.memory = partition->memory;
    fit.cpus_per_gpu = partition->cpus_per_gpu;
    const std::size_t before = problems.size();
    check_limits(spec, *partition, problems);
    const bool are_several = spec.partition.find(',') != std::string::npos;
    if (are_several && problems.size() == before) check_each(spec, cluster, problems);
  }
  const unsigned wanted = spec.nodes + spec.spares;
  Candidates found = find_candidates(spec, cluster, partition);
  check_size(wanted, found, problems);
  fit.nodes = std::move(found.nodes);
  if (fit.nodes.empty()) return fit;
  fit.known = true;
  fit.all = fit.nodes;
  // If no node has enough of one resource, the next resource is checked on all nodes, so that every
  // problem is reported at once.
  const auto keep = [&](const Demand& d) {
    fit.nodes = demand(fit.nodes.empty() ? fit.all : fit.nodes, d, found.scope, wanted, problems);
  };
  bool enough = true;
  if (spec.gpus_per_node.value_or(0) > 0) {
    fit.nodes = demand_gpus(fit.all, cluster, spec, found.scope, wanted, problems);
    enough = !fit.nodes.empty();
  }
  if (spec.memory_mib.value_or(0) > 0)
    keep({"--mem", "MiB of memory", *spec.memory_mib, [](const Node& n) { return n.memory_mib; }});
  if (!enough) fit.nodes.clear();
  for (const Node& node : fit.nodes) {
    fit.rank_unit = std::max(fit.rank_unit, rank_unit(node, spec, cluster.one_rank_per_core));
    const unsigned all = sure_cpus(node, spec, fit.max_cpus_per_node);
    const unsigned cpus = cpus_with_memory(all, node, spec, fit);
    if (cpus == 0 || (fit.fewest_cpus != 0 && cpus >= fit.fewest_cpus)) continue;
    fit.fewest_cpus = cpus;
    fit.mib_per_cpu = cpus < all ? memory_need(spec, fit.memory)->mib : 0;
  }
  return fit;
}

unsigned taken_cpus(const Fit& fit, unsigned cpus_per_task) {
  return in_units(cpus_per_task, fit.rank_unit);
}

void check_cpus(const spec::JobSpec& spec,
                const Fit& fit,
                unsigned tasks,
                unsigned cpus_per_task,
                Diagnostics& problems) {
  const std::vector<Node>& nodes = fit.nodes.empty() ? fit.all : fit.nodes;
  if (nodes.empty()) return;
  const std::uint64_t need = std::uint64_t{tasks} * cpus_per_task;
  const char* option = spec.cpus_per_task ? "--cpus-per-task" : "--ntasks-per-node";
  if (fit.max_cpus_per_node > 0 && need > fit.max_cpus_per_node) {
    problems.push_back({option,
                        fmt::format("{} CPUs per node requested, but partition {} gives a job at "
                                    "most {} of a node",
                                    need,
                                    fit.partition,
                                    fit.max_cpus_per_node),
                        "ask for fewer, or for another partition"});
    return;
  }
  std::string scope = fit.partition.empty() ? "" : " in partition " + fit.partition;
  if (const unsigned threads = threads_per_core(spec); threads > 0)
    scope += fmt::format(" with {} per core", counted(threads, "thread"));
  const Demand ranks = demand_for_ranks(nodes, spec, fit, tasks, cpus_per_task);
  if (ranks.need != need || ranks.what != "CPUs") scope += ", where no two ranks share a core,";
  (void)demand(nodes, ranks, scope, spec.nodes + spec.spares, problems);
}

}  // namespace dts::plan
