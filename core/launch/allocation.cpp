// SPDX-License-Identifier: Apache-2.0
#include "core/launch/allocation.hpp"

#include "core/base/files.hpp"
#include "core/base/hostlist.hpp"
#include "core/base/text.hpp"
#include "core/launch/net.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

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

}  // namespace

Result<Allocation> slurm_allocation(const Lookup& lookup) {
  Allocation allocation;
  DTS_ASSIGN(const std::string job, required(lookup, "SLURM_JOB_ID"));
  const auto id = parse_number(job);
  if (!id || *id == 0 || *id > 0xffffffffU)
    return fail(Errc::invalid, fmt::format("SLURM_JOB_ID=`{}` is not a job id", job));
  allocation.job = static_cast<std::uint32_t>(*id);
  allocation.restart_count =
      static_cast<unsigned>(parse_number(lookup("SLURM_RESTART_COUNT").value_or("0")).value_or(0));
  allocation.node = node_name(lookup, host_name());
  DTS_ASSIGN(const std::string nodes, required(lookup, "SLURM_JOB_NODELIST"));
  DTS_ASSIGN(allocation.nodes, expand_hostlist(nodes));
  DTS_ASSIGN(const std::string tasks, required(lookup, "SLURM_TASKS_PER_NODE"));
  DTS_ASSIGN(allocation.tasks_per_node, expand_counts(tasks));
  return allocation;
}

Result<Allocation> local_allocation() {
  Allocation allocation;
  allocation.node = host_name();
  allocation.nodes = {allocation.node};
  return allocation;
}

Result<void> check_allocation(const Allocation& allocation, const plan::Plan& plan) {
  if (allocation.nodes.size() != plan.nodes)
    return fail(Errc::invalid,
                fmt::format("the job has {} nodes ({}), planned were {}",
                            allocation.nodes.size(),
                            fmt::join(allocation.nodes, ","),
                            plan.nodes));
  const bool even = std::all_of(allocation.tasks_per_node.begin(),
                                allocation.tasks_per_node.end(),
                                [&](unsigned tasks) { return tasks == plan.ntasks_per_node; });
  if (!even)
    return fail(Errc::invalid,
                fmt::format("the job has {} tasks on its nodes, planned were {} on each",
                            fmt::join(allocation.tasks_per_node, ","),
                            plan.ntasks_per_node),
                "submit with --ntasks-per-node, as dtsubmit's own script does");
  return {};
}

std::pair<unsigned, unsigned> ephemeral_ports() {
  std::pair<unsigned, unsigned> range{32768, 60999};  // the kernel's default
  if (const auto text = read_file("/proc/sys/net/ipv4/ip_local_port_range"))
    std::istringstream(*text) >> range.first >> range.second;
  return range;
}

}  // namespace dts::launch
