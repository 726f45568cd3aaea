// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/share_nodes.hpp"

#include "core/base/text/counted.hpp"
#include "core/plan/layout/decide.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace dts::plan {
namespace {

using Members = std::vector<std::size_t>;  // the roles on the same nodes, in order

// The roles that share the nodes of role `host`, and it; only it, if it shares them with none.
Members members_of(const std::vector<spec::Part>& roles, std::size_t host) {
  Members members;
  for (std::size_t i = host; i < roles.size(); ++i)
    if (spec::host_of(roles, i) == host) members.push_back(i);
  return members;
}

bool shares_nodes(const spec::JobSpec& spec, std::size_t part) {
  return !spec.roles.empty() && members_of(spec.roles, spec::host_of(spec.roles, part)).size() > 1;
}

bool asks_for_cpus(const spec::JobSpec& job) {
  return job.cpus_per_task || (job.cpus_per_gpu && job.gpus_per_node.value_or(0) > 0);
}

bool lacks_ranks(const spec::JobSpec& job) {
  return !job.ntasks_per_node && job.gpus_per_node.value_or(0) == 0;
}

unsigned weight_of(const Plan& part) {
  return std::max(part.gpus_per_node, part.ntasks_per_node);
}

// What is left of a node's CPUs, for roles that do not request any.
struct Rest {
  unsigned asked = 0;    // CPUs that other roles request
  unsigned weights = 0;  // of the roles that do not
  unsigned gpus = 0;     // of all roles

  [[nodiscard]] unsigned share(unsigned cpus, unsigned weight) const {
    const std::uint64_t left = cpus - std::min(cpus, asked);
    return static_cast<unsigned>(left * weight / std::max(1U, weights));
  }
};

Rest rest_of(const spec::JobSpec& spec, const std::vector<Plan>& parts, const Members& members) {
  Rest rest;
  for (const std::size_t i : members) {
    rest.gpus += parts[i].gpus_per_node;
    if (asks_for_cpus(spec.roles[i].job))
      rest.asked += parts[i].ntasks_per_node * parts[i].cpus_per_task;
    else
      rest.weights += weight_of(parts[i]);
  }
  return rest;
}

// The cluster as if its nodes only had the CPUs that a role gets.
ClusterView view_of_share(ClusterView cluster, const Rest& rest, unsigned weight) {
  const auto has_gpus = [&](const ClusterView::Node& node) { return node.gpus >= rest.gpus; };
  // If no node has enough for all roles, the plan of the whole job says so.
  if (std::any_of(cluster.nodes.begin(), cluster.nodes.end(), has_gpus))
    std::erase_if(cluster.nodes, [&](const auto& node) { return !has_gpus(node); });
  for (ClusterView::Node& node : cluster.nodes) {
    const unsigned reserved = std::min(node.reserved_cpus, node.cpus);
    const unsigned cores = rest.share(node.cpus - reserved, weight) / node.cpus_per_core;
    node.cpus = reserved + std::max(1U, cores) * node.cpus_per_core;
  }
  for (ClusterView::Partition& partition : cluster.partitions)
    if (partition.max_cpus_per_node > 0)
      partition.max_cpus_per_node = std::max(1U, rest.share(partition.max_cpus_per_node, weight));
  return cluster;
}

// Without knowledge of the nodes, a task that starts several processes has a single CPU.
void take_one_per_gpu(Plan& part) {
  const unsigned tasks = std::max(1U, part.ntasks_per_node);
  if (part.cpus_per_task * tasks >= part.gpus_per_node) return;
  part.cpus_per_task = (part.gpus_per_node + tasks - 1) / tasks;
  for (Reason& reason : part.reasons)
    if (reason.name == "cpus-per-task") {
      reason.value = std::to_string(part.cpus_per_task);
      reason.why = "the nodes' CPUs are not known: one per GPU, for its share of the cores";
    }
}

// GPUs are given out in the order of the node, in which those of the wanted type come first.
void check_types(const spec::JobSpec& spec, const Members& members, Diagnostics& problems) {
  const spec::Part* first = nullptr;
  for (const std::size_t i : members) {
    const spec::Part& role = spec.roles[i];
    if (role.job.gpus_per_node.value_or(0) == 0) continue;
    if (first == nullptr) first = &role;
    if (role.job.gpu_type != first->job.gpu_type)
      problems.push_back({words_of(spec, role),
                          fmt::format("its GPUs are of another type than those of `{}`, whose "
                                      "nodes it shares",
                                      first->name),
                          "write the same type for both: gpus_per_node = \"TYPE:N\""});
  }
}

void explain(const spec::JobSpec& spec, const Members& members, std::size_t index, Plan& plan) {
  for (Reason& reason : plan.reasons)
    if (reason.name == "ntasks-per-node" && lacks_ranks(spec.roles[index].job) && reason.as_asked) {
      reason.why = "one rank, as other roles are on its nodes";
      reason.as_asked = false;
    }
  std::string others;
  for (const std::size_t other : members)
    if (other != index) others += (others.empty() ? "" : ", ") + spec.roles[other].name;
  const SharedNodes& shared = *plan.shared;
  std::string share =
      fmt::format("{} of {}", shared.cpus[shared.own], counted(cpus_of_node(plan), "CPU"));
  if (const unsigned gpus = gpus_of_node(plan); gpus > 0)
    share += fmt::format(", {} of {}", plan.gpus_per_node, counted(gpus, "GPU"));
  decide(plan, "share of each node", share, "beside " + others);
}

}  // namespace

spec::JobSpec spec_of_part(const spec::JobSpec& spec, std::size_t part) {
  spec::JobSpec job = spec::parts_of(spec)[part].job;
  if (shares_nodes(spec, part) && lacks_ranks(job)) job.ntasks_per_node = 1;
  return job;
}

void share_nodes(const spec::JobSpec& spec,
                 const ClusterView& cluster,
                 const PlanPart& plan_part,
                 std::vector<Plan>& parts,
                 Diagnostics& problems) {
  for (std::size_t host = 0; host < spec.roles.size(); ++host) {
    const Members members = members_of(spec.roles, host);
    if (members.size() < 2) continue;
    check_types(spec, members, problems);
    const Rest rest = rest_of(spec, parts, members);
    for (const std::size_t i : members) {
      if (asks_for_cpus(spec.roles[i].job)) continue;
      const ClusterView view = view_of_share(cluster, rest, weight_of(parts[i]));
      parts[i] = plan_part(i, spec_of_part(spec, i), view);
      if (cluster.nodes.empty()) take_one_per_gpu(parts[i]);
    }
    SharedNodes shared;
    shared.host = static_cast<unsigned>(host);
    for (const std::size_t i : members) {
      shared.cpus.push_back(parts[i].ntasks_per_node * parts[i].cpus_per_task);
      shared.gpus.push_back(parts[i].gpus_per_node);
    }
    for (const std::size_t i : members) {
      shared.is_guest = i != host;
      parts[i].shared = shared;
      explain(spec, members, i, parts[i]);
      ++shared.own;
    }
  }
}

}  // namespace dts::plan
