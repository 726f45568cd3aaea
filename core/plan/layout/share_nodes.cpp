// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/share_nodes.hpp"

#include "core/base/text/counted.hpp"
#include "core/plan/layout/cpus.hpp"
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

// The CPUs that a rank takes of a node.
unsigned taken_by_rank(const Plan& part, const spec::JobSpec& job, const ClusterView& cluster) {
  unsigned unit = 1;
  for (const ClusterView::Node& node : cluster.nodes)
    unit = std::max(unit, rank_unit(node, job, cluster.one_rank_per_core));
  return in_units(part.cpus_per_task, unit);
}

unsigned taken(const Plan& part, const spec::JobSpec& job, const ClusterView& cluster) {
  return part.ntasks_per_node * taken_by_rank(part, job, cluster);
}

// A job with one rank on each of the nodes, and the GPUs of all roles there.
spec::JobSpec all_in_one(const spec::JobSpec& host, unsigned gpus) {
  spec::JobSpec job = host;
  job.command = {"dtsubmit"};
  job.ntasks_per_node = 1;
  job.gpus_per_node = gpus;
  job.cpus_per_task.reset();
  job.per_node = false;
  return job;
}

// The CPUs of a node that roles which request none divide.
struct Rest {
  unsigned cpus = 0;     // 0: not known, or none left
  unsigned of_node = 0;  // all that the job gets
  unsigned weights = 0;  // of these roles
};

Rest rest_of(const spec::JobSpec& spec,
             const ClusterView& cluster,
             const PlanAny& plan_any,
             const std::vector<Plan>& parts,
             const Members& members) {
  Rest rest;
  unsigned gpus = 0, asked = 0;
  for (const std::size_t i : members) {
    gpus += parts[i].gpus_per_node;
    if (asks_for_cpus(spec.roles[i].job))
      asked += taken(parts[i], spec.roles[i].job, cluster);
    else
      rest.weights += weight_of(parts[i]);
  }
  const auto whole = plan_any(all_in_one(spec.roles[members.front()].job, gpus));
  if (!whole || cluster.nodes.empty()) return rest;
  rest.of_node = whole->cpus_per_task;
  rest.cpus = rest.of_node - std::min(rest.of_node, asked);
  return rest;
}

// At least one for each rank: if there are too few, the plan of the whole job says so.
void take_share(const Rest& rest,
                const spec::JobSpec& job,
                const ClusterView& cluster,
                Plan& part) {
  const unsigned tasks = std::max(1U, part.ntasks_per_node);
  const unsigned weight = weight_of(part);
  std::string why = "the nodes' CPUs are not known: one per GPU, or per rank";
  unsigned share = weight;
  if (rest.of_node > 0) {
    share = static_cast<unsigned>(std::uint64_t{rest.cpus} * weight / std::max(1U, rest.weights));
    why = fmt::format(
        "{} of {} per node / {}", share, counted(rest.of_node, "CPU"), counted(tasks, "rank"));
  }
  part.cpus_per_task = 1;
  const unsigned unit = taken_by_rank(part, job, cluster);  // of one CPU
  part.cpus_per_task = std::max(1U, share / tasks / unit * unit);
  for (Reason& reason : part.reasons)
    if (reason.name == "cpus-per-task") {
      reason.value = std::to_string(part.cpus_per_task);
      reason.why = why;
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
                 const PlanAny& plan_any,
                 std::vector<Plan>& parts,
                 Diagnostics& problems) {
  for (std::size_t host = 0; host < spec.roles.size(); ++host) {
    const Members members = members_of(spec.roles, host);
    if (members.size() < 2) continue;
    check_types(spec, members, problems);
    const Rest rest = rest_of(spec, cluster, plan_any, parts, members);
    SharedNodes shared;
    shared.host = static_cast<unsigned>(host);
    for (const std::size_t i : members) {
      const spec::JobSpec& job = spec.roles[i].job;
      if (!asks_for_cpus(job)) take_share(rest, job, cluster, parts[i]);
      shared.cpus.push_back(taken(parts[i], job, cluster));
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
