// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/start.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/segment_folder.hpp"
#include "core/base/net/ephemeral_ports.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"
#include "core/cluster/autogroup.hpp"
#include "core/cluster/cgroups.hpp"
#include "core/cluster/layout/record.hpp"
#include "core/cluster/layout/services.hpp"
#include "core/cluster/processes.hpp"
#include "core/cluster/query.hpp"
#include "core/cluster/services.hpp"
#include "core/cluster/watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace dts::cluster {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto k_start_limit = 20s;
constexpr unsigned k_attempts = 16;  // to find free ports

Result<void> make_all_folders(const Layout& layout) {
  const std::string& folder = layout.spec.folder;
  for (const char* name : {"state", "run", "log", "gpu", "spool", "tmp"})
    DTS_TRY(make_folders(folder + "/" + name));
  for (const std::string& node : node_names(layout))
    for (const char* parent : {"spool", "tmp"})
      DTS_TRY(make_folders(fmt::format("{}/{}/{}", folder, parent, node)));
  return {};
}

Result<void> make_gpus(const Layout& layout) {
  for (unsigned gpu = 0; gpu < layout.spec.gpus_per_node; ++gpu)
    if (const std::string path = gpu_path(layout.spec.folder, gpu);
        ::symlink("/dev/null", path.c_str()) != 0)
      return fail_errno("cannot create " + path);
  return {};
}

struct ConfigFile {
  std::string path;
  std::string text;  // empty: the file is not needed
  unsigned mode = 0600;
};

std::vector<ConfigFile> config_files(const Layout& layout) {
  const std::string& folder = layout.spec.folder;
  std::vector<ConfigFile> files{{folder + "/gres.conf", render_gres_conf(layout)},
                                {folder + "/cgroup.conf", render_cgroup_conf(layout)},
                                {accounting_conf_path(folder), render_accounting_conf(layout)}};
  if (layout.own_host_names)
    files.push_back(
        {hosts_path(folder), render_hosts(layout, read_file("/etc/hosts").value_or("")), 0644});
  // Written last: it makes the cluster visible.
  files.push_back({conf_path(folder),
                   layout.own_host_names ? render_start_conf(layout) : render_slurm_conf(layout)});
  return files;
}

Result<void> write_files(const Layout& layout) {
  DTS_TRY(write_record(layout));
  DTS_TRY(make_all_folders(layout));
  DTS_TRY(make_gpus(layout));
  for (const ConfigFile& file : config_files(layout))
    if (!file.text.empty())
      DTS_TRY(write_file(file.path, file.text, file.mode, Durability::deferred));
  return {};
}

// The first node that is not idle, as "n1 is unknown"; "slurmctld ..." if it does not answer; empty
// if all are idle.
std::string first_late(const Programs& programs, const Layout& layout) {
  const auto states = node_states(programs, layout.spec.folder, k_answer_limit);
  if (!states || states->size() != layout.spec.nodes) return "slurmctld does not answer";
  for (const NodeState& node : *states)
    if (node.state != "idle") return fmt::format("{} is {}", node.name, node.state);
  return {};
}

Result<void> wait_for_nodes(const Programs& programs,
                            const Layout& layout,
                            const std::vector<Daemon>& daemons,
                            Clock::time_point deadline) {
  while (true) {
    DTS_TRY(check_alive(layout, daemons));
    const std::string late = first_late(programs, layout);
    if (late.empty()) return {};
    if (Clock::now() > deadline) {
      const auto blank = late.find(' ');
      return fail_daemon(
          layout, late.substr(0, blank), late.substr(blank + 1) + " and not idle in time");
    }
    std::this_thread::sleep_for(10ms);
  }
}

Result<void> start_at(const Programs& programs, const Layout& layout) {
  DTS_TRY(write_files(layout));
  std::vector<Daemon> daemons;
  DTS_TRY(start_services(programs, layout, daemons));
  const auto deadline = Clock::now() + k_start_limit;
  DTS_ASSIGN(Daemon controller, start_controller(programs, layout));
  daemons.push_back(std::move(controller));
  DTS_TRY(wait_for(layout, daemons, deadline, [&layout] {
    return listens(layout.endpoints, layout.endpoints.port);
  }));
  const std::size_t first_node = daemons.size();
  for (unsigned node = 0; node < layout.spec.nodes; ++node) {
    DTS_ASSIGN(Daemon daemon, start_node(programs, layout, node));
    daemons.push_back(std::move(daemon));
  }
  DTS_TRY(wait_for_nodes(programs, layout, daemons, deadline));
  if (!layout.own_host_names) return {};
  for (std::size_t node = first_node; node < daemons.size(); ++node)
    DTS_TRY(name_host(daemons[node]));
  return write_file(
      conf_path(layout.spec.folder), render_slurm_conf(layout), 0600, Durability::deferred);
}

}  // namespace

std::vector<std::string> node_names(const Layout& layout) {
  std::vector<std::string> names;
  for (unsigned node = 0; node < layout.spec.nodes; ++node)
    names.push_back(node_name(layout, node));
  return names;
}

Result<void> clear(const Layout& layout) {
  DTS_TRY(end_members(layout.spec.folder, layout.own_host_names, k_end_limit));
  // Groups do not survive a reboot, so by now groups with our nodes' names would belong to another
  // cluster.
  if (layout.spec.proctrack == Proctrack::cgroup && layout.boot == boot_id())
    DTS_TRY(remove_groups(node_names(layout), k_end_limit));
  restore_autogroups(layout.spec.folder);
  remove_left_segments(k_shared_memory);  // of ranks killed just now
  std::vector<std::string> entries = list_folder(layout.spec.folder);
  // The record is removed last: to the next call, it identifies the rest as ours.
  std::stable_partition(
      entries.begin(), entries.end(), [](const std::string& e) { return e != "cluster.json"; });
  for (const std::string& entry : entries) DTS_TRY(remove_all(layout.spec.folder + "/" + entry));
  return {};
}

// Tries several sets of ports, because another process may take one between the probe and the
// start.
Result<void> start(const Programs& programs, Layout& layout) {
  const unsigned ephemeral = ephemeral_ports().first;
  for (unsigned attempt = 0; attempt < k_attempts; ++attempt) {
    layout.endpoints = propose_endpoints(layout.spec.folder, attempt, ephemeral);
    layout.endpoints.accounting = layout.spec.accounting;
    DTS_TRY(check_resolvable(layout.endpoints));
    if (!are_free(layout.endpoints, layout.spec.nodes)) continue;
    auto started = start_at(programs, layout);
    if (started) return {};
    DTS_TRY(end_members(layout.spec.folder, layout.own_host_names, k_end_limit));
    if (started.error().message.find("Address already in use") == std::string::npos) return started;
    DTS_TRY(clear(layout));
  }
  return fail(Errc::io,
              fmt::format("no free ports for a cluster after {} attempts", k_attempts),
              "end some clusters: `dtsubmit cluster down --all`");
}

}  // namespace dts::cluster
