// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/allocation.hpp"

#include "core/base/files/files.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/wire/node_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <string_view>

namespace dts::launch {
namespace {

Result<std::string> required(const Lookup& lookup, const char* name) {
  auto value = lookup(name);
  if (!value)
    return fail(Errc::invalid,
                fmt::format("{} is not set", name),
                "`dtsubmit agent` is started by the batch script that dtsubmit makes");
  return *value;
}

// To Slurm, each component is a job of its own, and no mpirun spans two of them. ComposedRun starts
// an agent for each component.
Result<void> refuse_heterogeneous(const Lookup& lookup) {
  const auto size = lookup("SLURM_HET_SIZE");
  if (!size || size == "1") return {};
  return fail(
      Errc::invalid,
      fmt::format("the job is heterogeneous (SLURM_HET_SIZE={}): its ranks would be placed "
                  "on the first component only",
                  *size),
      "submit roles with `heterogeneous = true`: see STEPS AND ROLES in dtsubmit-submit(1)");
}

Result<std::vector<unsigned>> tasks_per_node(const Lookup& lookup) {
  if (!lookup("SLURM_TASKS_PER_NODE") && lookup("SLURM_DISTRIBUTION") == "arbitrary")
    return fail(Errc::invalid,
                fmt::format("the job has an arbitrary distribution (SLURM_HOSTFILE={}): Slurm does "
                            "not say how many tasks each node has",
                            lookup("SLURM_HOSTFILE").value_or("")),
                "submit with --ntasks-per-node and choose the nodes with --nodelist");
  DTS_ASSIGN(const std::string tasks, required(lookup, "SLURM_TASKS_PER_NODE"));
  DTS_ASSIGN(std::vector<unsigned> counts, expand_counts(tasks));
  // With CR_Pack_Nodes, Slurm lists the tasks as if it filled one node after another: "5,1" for two
  // nodes with --ntasks-per-node=3. That is a maximum, so if the job has all of these tasks, each
  // node has room for its own.
  const auto most = parse_number(lookup("SLURM_NTASKS_PER_NODE").value_or(""));
  const auto all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (most && all == *most * counts.size())
    counts.assign(counts.size(), static_cast<unsigned>(*most));
  return counts;
}

}  // namespace

// An array's last task has the same job id as the array, so a command with that id would affect all
// tasks.
JobId own_job(const Lookup& lookup) {
  const auto array = lookup("SLURM_ARRAY_JOB_ID");
  const auto task = lookup("SLURM_ARRAY_TASK_ID");
  const std::string text =
      array && task ? *array + "_" + *task : lookup("SLURM_JOB_ID").value_or("");
  return JobId::parse(text).value_or(JobId());
}

std::vector<std::pair<const char*, std::string>> corrected_job_ids(const Lookup& lookup) {
  constexpr std::uint64_t k_ids = std::uint64_t{1} << 32U;
  std::vector<std::pair<const char*, std::string>> corrected;
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOBID"}) {
    const std::string text = lookup(name).value_or("");
    if (!text.starts_with('-')) continue;
    const auto below = parse_number(std::string_view(text).substr(1));
    if (below && *below > 0 && *below <= k_ids / 2)
      corrected.emplace_back(name, std::to_string(k_ids - *below));
  }
  return corrected;
}

namespace {

// The allocation without its nodes.
Result<Allocation> allocated_job(const Lookup& lookup) {
  Allocation allocation;
  DTS_ASSIGN(const std::string job, required(lookup, "SLURM_JOB_ID"));
  auto id = JobId::parse(job);
  if (!id || !id->number())
    return fail(Errc::invalid, fmt::format("SLURM_JOB_ID=`{}` is not a job id", job));
  allocation.job = own_job(lookup);
  allocation.restart_count =
      static_cast<unsigned>(parse_number(lookup("SLURM_RESTART_COUNT").value_or("0")).value_or(0));
  allocation.node = node_name(lookup, host_name());
  return allocation;
}

}  // namespace

Result<Allocation> slurm_allocation(const Lookup& lookup) {
  DTS_TRY(refuse_heterogeneous(lookup));
  DTS_ASSIGN(Allocation allocation, allocated_job(lookup));
  DTS_ASSIGN(const std::string nodes, required(lookup, "SLURM_JOB_NODELIST"));
  DTS_ASSIGN(allocation.nodes, expand_hostlist(nodes));
  DTS_ASSIGN(allocation.tasks_per_node, tasks_per_node(lookup));
  if (allocation.tasks_per_node.size() != allocation.nodes.size())
    return fail(Errc::invalid,
                fmt::format("SLURM_TASKS_PER_NODE lists {}, SLURM_JOB_NODELIST {}",
                            counted(allocation.tasks_per_node.size(), "node"),
                            allocation.nodes.size()));
  return allocation;
}

Result<Allocation> heterogeneous_allocation(const Lookup& lookup) {
  const auto size = parse_number(lookup("SLURM_HET_SIZE").value_or(""));
  if (!size)
    return fail(Errc::invalid,
                "the roles are the components of a heterogeneous job, and this job is not one: "
                "SLURM_HET_SIZE is not set",
                "continue the run with `dtsubmit requeue`");
  DTS_ASSIGN(Allocation allocation, allocated_job(lookup));
  for (std::uint64_t component = 0; component < *size; ++component) {
    const std::string name = fmt::format("SLURM_JOB_NODELIST_HET_GROUP_{}", component);
    DTS_ASSIGN(const std::string list, required(lookup, name.c_str()));
    DTS_ASSIGN(const std::vector<std::string> nodes, expand_hostlist(list));
    allocation.nodes.insert(allocation.nodes.end(), nodes.begin(), nodes.end());
  }
  return allocation;
}

Allocation local_allocation(const plan::Plan& plan) {
  Allocation allocation;
  allocation.node = host_name();
  for (const HostSlots& host : plan.hosts) allocation.nodes.push_back(host.host);
  if (plan.hosts.empty()) allocation.nodes = {allocation.node};
  return allocation;
}

Result<void> check_allocation(const Allocation& allocation, const plan::Plan& plan) {
  if (allocation.nodes.size() != plan.nodes + plan.spares)
    return fail(Errc::invalid,
                fmt::format("the job has {} ({}), {} were planned",
                            counted(allocation.nodes.size(), "node"),
                            fmt::join(allocation.nodes, ","),
                            plan.nodes + plan.spares),
                "something at the site has changed the job's size, for example a job_submit "
                "plug-in: request the size that it gives");
  const auto uneven = std::find_if(allocation.tasks_per_node.begin(),
                                   allocation.tasks_per_node.end(),
                                   [&](unsigned tasks) { return tasks != plan.ntasks_per_node; });
  if (uneven == allocation.tasks_per_node.end()) return {};
  const auto node = static_cast<std::size_t>(uneven - allocation.tasks_per_node.begin());
  return fail(Errc::invalid,
              fmt::format("node {} has {} tasks, {} were planned on each (the job's: {})",
                          allocation.nodes.at(node),
                          *uneven,
                          plan.ntasks_per_node,
                          fmt::join(allocation.tasks_per_node, ",")),
              "submit with --ntasks-per-node, as dtsubmit's own script does");
}

}  // namespace dts::launch
