// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/layout/config.hpp"

#include "core/cluster/layout/services.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <utility>
#include <vector>

namespace dts::cluster {
namespace {

constexpr const char* k_listen_narrowly = "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n";

// "n[0-3]", or "n0" alone.
std::string range(const std::string& prefix, unsigned count) {
  return count == 1 ? prefix + "0" : fmt::format("{}[0-{}]", prefix, count - 1);
}

Lines controller_lines(const Layout& layout) {
  const std::string& folder = layout.spec.folder;
  const std::string at = layout.endpoints.controller_address();
  return {{"ClusterName", slurm_name(layout.spec)},
          {"SlurmctldHost", fmt::format("localhost({})", at)},
          {"SlurmctldPort", std::to_string(layout.endpoints.port)},
          {"FirstJobId", std::to_string(layout.endpoints.first_job())},
          {"SlurmUser", layout.user},
          {"SlurmdUser", layout.user},
          {"StateSaveLocation", folder + "/state"},
          {"SlurmdSpoolDir", folder + "/spool/%n"},
          {"SlurmctldPidFile", folder + "/run/slurmctld.pid"},
          {"SlurmdPidFile", folder + "/run/%n.pid"},
          {"SlurmctldLogFile", folder + "/log/slurmctld.log"},
          {"SlurmdLogFile", folder + "/log/%n.log"},
          // Otherwise `srun --mpi=pmix` over two nodes of one host fails: both create
          // /tmp/spmix_appdir_UID_JOB.STEP.
          {"TmpFS", folder + "/tmp/%n"}};
}

Lines behaviour_lines(const Layout& layout) {
  return {
      {"ProctrackType", std::string("proctrack/") + to_string(layout.spec.proctrack)},
      // task/affinity would bind to cores that the simulated node claims but does not have.
      {"TaskPlugin", layout.spec.constrain_cores ? "task/affinity,task/cgroup" : "task/none"},
      {"JobAcctGatherType", "jobacct_gather/none"},
      {"SelectType", "select/cons_tres"},
      {"SelectTypeParameters", "CR_Core"},
      {"SlurmdParameters", "config_overrides"},  // rely on our CPUs and memory, not the machine's
      {"MpiDefault", "none"},
      {"PreemptType", "preempt/partition_prio"},
      {"PreemptMode", "REQUEUE"},
      {"JobRequeue", "1"},
      {"ReturnToService", "2"},
      {"MinJobAge", "300"},
      {"KillWait", "5"},
      {"SlurmdTimeout", "20"},  // a dead node is noticed in about 33 s instead of 5 min
      {"SchedulerType", "sched/backfill"},
      {"SchedulerParameters",
       "batch_sched_delay=0,sched_min_interval=0,bf_interval=1,sched_interval=1"},
      {"MailProg", "/bin/true"}};
}

Lines node_lines(const Layout& layout) {
  const ClusterSpec& spec = layout.spec;
  Lines lines;
  if (spec.gpus_per_node > 0) lines.push_back({"GresTypes", "gpu"});
  for (unsigned node = 0; node < spec.nodes; ++node) {
    const std::string name = node_name(layout, node);
    std::string value = fmt::format(
        "{} NodeHostname={} NodeAddr={} Port={} CPUs={} Sockets={} CoresPerSocket={} "
        "ThreadsPerCore={} RealMemory={}",
        name,
        layout.own_host_names ? name : "localhost",
        layout.endpoints.node_address(node),
        layout.endpoints.node_port(node),
        cpus_of(spec),
        spec.sockets,
        cpus_of(spec) / spec.sockets / spec.threads_per_core,
        spec.threads_per_core,
        layout.memory_mib);
    if (spec.reserved_cores > 0) value += fmt::format(" CoreSpecCount={}", spec.reserved_cores);
    const std::string type = spec.gpu_type.empty() ? "" : spec.gpu_type + ":";
    if (spec.gpus_per_node > 0) value += fmt::format(" Gres=gpu:{}{}", type, spec.gpus_per_node);
    if (!spec.features.empty()) value += " Feature=" + spec.features;
    lines.push_back({"NodeName", value + " State=UNKNOWN"});
  }
  const std::string all = range(layout.node_prefix, spec.nodes);
  lines.push_back({"PartitionName",
                   fmt::format("low Nodes={} Default=YES MaxTime=INFINITE State=UP PriorityTier=1 "
                               "PreemptMode=REQUEUE GraceTime={}",
                               all,
                               spec.grace)});
  lines.push_back({"PartitionName",
                   fmt::format("high Nodes={} Default=NO MaxTime=INFINITE State=UP PriorityTier=10 "
                               "PreemptMode=OFF",
                               all)});
  return lines;
}

void append(Lines& lines, Lines more) {
  for (Line& line : more) lines.push_back(std::move(line));
}

// PartitionName lines accumulate; an extra line replaces any other key of ours, because Slurm
// refuses some repeated keys.
void apply_extra(Lines& lines, const std::string& text) {
  const auto equals = text.find('=');
  Line extra{text.substr(0, equals), text.substr(equals + 1)};
  if (::strcasecmp(extra.key.c_str(), "PartitionName") != 0)
    for (Line& line : lines)
      if (::strcasecmp(line.key.c_str(), extra.key.c_str()) == 0) {
        line = std::move(extra);
        return;
      }
  lines.push_back(std::move(extra));
}

}  // namespace

std::string node_name(const Layout& layout, unsigned node) {
  return layout.node_prefix + std::to_string(node);
}

std::string conf_path(const std::string& folder) {
  return folder + "/slurm.conf";
}

std::string hosts_path(const std::string& folder) {
  return folder + "/hosts";
}

std::string gpu_path(const std::string& folder, unsigned gpu) {
  return fmt::format("{}/gpu/gpu{}", folder, gpu);
}

std::string render_slurm_conf(const Layout& layout) {
  Lines lines = controller_lines(layout);
  append(lines, authentication_lines(layout));
  append(lines, behaviour_lines(layout));
  append(lines, accounting_lines(layout));
  append(lines, node_lines(layout));
  for (const std::string& text : layout.spec.extra) apply_extra(lines, text);
  std::string text = "# Written by `dtsubmit cluster up`; gone after `dtsubmit cluster down`.\n";
  return text + text_of(lines);
}

std::string render_start_conf(const Layout& layout) {
  return render_slurm_conf(layout) + k_listen_narrowly;
}

bool is_start_conf(const std::string& text) {
  return text.find(k_listen_narrowly) != std::string::npos;
}

std::string render_hosts(const Layout& layout, std::string machines) {
  if (!machines.empty() && machines.back() != '\n') machines += '\n';
  for (unsigned node = 0; node < layout.spec.nodes; ++node)
    machines +=
        fmt::format("{} {}\n", layout.endpoints.node_address(node), node_name(layout, node));
  return machines;
}

std::string render_gres_conf(const Layout& layout) {
  if (layout.spec.gpus_per_node == 0) return {};
  const std::string& type = layout.spec.gpu_type;
  return fmt::format("NodeName={} Name=gpu {}File={}\n",
                     range(layout.node_prefix, layout.spec.nodes),
                     type.empty() ? "" : "Type=" + type + " ",
                     range(layout.spec.folder + "/gpu/gpu", layout.spec.gpus_per_node));
}

std::string render_cgroup_conf(const Layout& layout) {
  if (layout.spec.proctrack != Proctrack::cgroup) return {};
  return fmt::format(
      "CgroupPlugin=cgroup/v1\nConstrainCores={}\nConstrainRAMSpace=no\nConstrainDevices=no\n",
      layout.spec.constrain_cores ? "yes" : "no");
}

}  // namespace dts::cluster
