// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/cluster.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"
#include "core/cluster/autogroup.hpp"
#include "core/cluster/cgroups.hpp"
#include "core/cluster/companion.hpp"
#include "core/cluster/daemons.hpp"
#include "core/cluster/layout/config.hpp"
#include "core/cluster/layout/record.hpp"
#include "core/cluster/lock.hpp"
#include "core/cluster/processes.hpp"
#include "core/cluster/query.hpp"
#include "core/cluster/services.hpp"
#include "core/cluster/start.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>

namespace dts::cluster {
namespace {

using namespace std::chrono_literals;

constexpr auto k_lock_limit = 60s;

std::string user_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::geteuid());
}

std::uint64_t memory_mib() {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

// --- what exists ---------------------------------------------------------------

bool lives(const std::vector<Member>& members, const std::string& name) {
  return std::any_of(
      members.begin(), members.end(), [&name](const Member& m) { return m.daemon == name; });
}

bool daemons_live(const Layout& layout, const std::vector<Member>& members) {
  std::vector<std::string> names = node_names(layout);
  for (std::string& service : service_names(layout.spec)) names.push_back(std::move(service));
  return lives(members, "slurmctld") &&
         std::all_of(names.begin(), names.end(), [&](const auto& n) { return lives(members, n); });
}

// Without munged, no program can query the controller.
bool can_ask(const Layout& layout, const std::vector<Member>& members) {
  return (layout.spec.auth != Auth::munge || lives(members, "munged")) &&
         listens(layout.endpoints, layout.endpoints.port);
}

bool same_file(const std::string& path, const std::string& text) {
  return read_file(path).value_or("") == text;
}

bool same_shape(const Layout& layout) {
  const std::string& folder = layout.spec.folder;
  return same_file(conf_path(folder), render_slurm_conf(layout)) &&
         same_file(folder + "/gres.conf", render_gres_conf(layout)) &&
         same_file(folder + "/cgroup.conf", render_cgroup_conf(layout));
}

// The option that names the cluster on the command line.
std::string place_of(const ClusterSpec& spec) {
  const auto parent = clusters_folder();
  const bool usual = parent && *parent + "/" + spec.name == spec.folder;
  return usual ? "--name " + spec.name : "--folder " + spec.folder;
}

// The record of an existing cluster; nullopt for an empty folder.
Result<std::optional<Layout>> existing(const std::string& folder) {
  if (list_folder(folder).empty()) return std::nullopt;
  auto record = read_record(folder);
  if (record) return std::optional<Layout>(std::move(*record));
  if (record.error().code == Errc::not_found)
    return fail(Errc::invalid,
                fmt::format("{} contains something that is not a cluster of dtsubmit", folder),
                "give --folder an absent or empty folder");
  return tl::unexpected<Error>(std::move(record).error());
}

Result<Layout> decide(const ClusterSpec& spec, std::vector<std::string>& warnings) {
  Layout layout;
  layout.spec = spec;
  layout.user = user_name();
  layout.memory_mib = std::max<std::uint64_t>(memory_mib() / spec.nodes, 1024);
  layout.own_host_names = can_own_host_name();
  layout.boot = boot_id();
  if (!layout.own_host_names)
    warnings.emplace_back(
        "the kernel does not allow nodes host names of their own: mpirun starts a daemon on every "
        "node, including the first, and Slurm listens on all addresses of this machine, where "
        "everybody who can reach them can run jobs as you");
  return layout;
}

// Slurm 22.05 derives the names of a node's control groups from the node name alone, so two
// clusters with a node n0 would end each other's jobs. Writes the choice into `layout`, and holds
// the lock until the groups exist.
Result<UniqueFd> choose_group_names(Layout& layout, std::vector<std::string>& warnings) {
  DTS_TRY(check_cgroups(layout.spec.constrain_cores));
  DTS_ASSIGN(UniqueFd lock, lock_folder(k_cgroups, IfAbsent::leave, k_lock_limit));
  for (char letter = 'b'; have_groups(node_names(layout)) && letter <= 'z'; ++letter)
    layout.node_prefix = std::string("n") + letter;
  if (have_groups(node_names(layout)))
    return fail(Errc::io,
                fmt::format("every name for nodes already has control groups in {}", k_cgroups),
                "end other clusters: dtsubmit cluster down --all");
  if (layout.node_prefix != "n")
    warnings.push_back(
        fmt::format("another Slurm has control groups for a node n0: nodes are called {}0, ...",
                    layout.node_prefix));
  return lock;
}

Result<void> resolve_folder(ClusterSpec& spec) {
  if (spec.folder.empty()) {
    DTS_ASSIGN(const std::string parent, clusters_folder());
    spec.folder = parent + "/" + spec.name;
  }
  spec.folder = absolute_path(spec.folder);
  while (spec.folder.size() > 1 && spec.folder.back() == '/') spec.folder.pop_back();
  return validate_folder(spec.folder);
}

// True if the cluster already runs exactly as requested. Clears what a crashed cluster left behind.
Result<bool> reuse(const Programs& programs, const ClusterSpec& spec) {
  DTS_ASSIGN(std::optional<Layout> old, existing(spec.folder));
  if (!old) return false;
  const bool live = daemons_live(*old, find_members(spec.folder, old->own_host_names)) &&
                    !is_start_conf(read_file(conf_path(spec.folder)).value_or(""));
  Layout wished = *old;
  wished.spec = spec;
  if (live && !same_shape(wished))
    return fail(Errc::invalid,
                fmt::format("cluster {} is running with a different shape", spec.name),
                "end it first: dtsubmit cluster down " + place_of(spec));
  if (!live) {
    DTS_TRY(clear(*old));
    return false;
  }
  DTS_TRY(node_states(programs, spec.folder, k_answer_limit).map([](const auto&) {}));
  return true;
}

Result<void> start_new(const Programs& programs,
                       const ClusterSpec& spec,
                       std::vector<std::string>& warnings) {
  DTS_ASSIGN(Layout layout, decide(spec, warnings));
  UniqueFd names;  // held until the cluster has started
  if (spec.proctrack == Proctrack::cgroup) {
    DTS_ASSIGN(names, choose_group_names(layout, warnings));
  }
  DTS_TRY(start(programs, layout));
  switch_autogroups_off(spec.folder);
  return {};
}

Result<void> accompany(const ClusterSpec& spec) {
  if (spec.with_process == 0) return {};
  return end_with_process(spec.folder, spec.with_process);
}

NodeStatus seen_from_outside(const Layout& layout,
                             unsigned index,
                             const std::vector<Member>& members) {
  NodeStatus node;
  node.name = node_name(layout, index);
  node.address = layout.endpoints.node_address(index);
  node.port = layout.endpoints.node_port(index);
  for (const Member& member : members)
    if (member.daemon == node.name) node.uptime = member.age;
  node.state = node.uptime ? "unknown" : "dead";
  return node;
}

// States and jobs. A node without a slurmd is dead, whatever the controller still believes.
Result<void> ask_controller(ClusterStatus& status) {
  DTS_ASSIGN(const Programs programs, find_programs({}));
  DTS_ASSIGN(const auto states, node_states(programs, status.folder, k_answer_limit));
  DTS_ASSIGN(const auto queue, queued_jobs(programs, status.folder, k_answer_limit));
  for (NodeStatus& node : status.nodes) {
    for (const NodeState& state : states)
      if (state.name == node.name && node.uptime) node.state = state.state;
    for (const QueuedJob& job : queue)
      node.jobs += static_cast<unsigned>(std::count(job.nodes.begin(), job.nodes.end(), node.name));
  }
  for (const QueuedJob& job : queue) {
    status.jobs_running += job.state == "RUNNING" ? 1 : 0;
    status.jobs_pending += job.state == "PENDING" ? 1 : 0;
  }
  return {};
}

}  // namespace

Result<UpResult> up(ClusterSpec spec) {
  DTS_TRY(fit_machine(spec));
  DTS_TRY(validate(spec));
  DTS_TRY(resolve_folder(spec));
  if (spec.proctrack == Proctrack::cgroup && ::geteuid() != 0)
    return fail(Errc::invalid,
                "--proctrack cgroup needs root",
                "run it as root, or use --proctrack linuxproc");
  DTS_ASSIGN(const Programs programs, find_programs(spec));
  DTS_ASSIGN(const UniqueFd lock, lock_folder(spec.folder, IfAbsent::create, k_lock_limit));
  UpResult result;
  result.conf = conf_path(spec.folder);
  DTS_ASSIGN(const bool there, reuse(programs, spec));
  if (!there) DTS_TRY(start_new(programs, spec, result.warnings));
  DTS_TRY(accompany(spec));
  return result;
}

Result<void> down(const std::string& folder) {
  DTS_ASSIGN(const UniqueFd lock, lock_folder(folder, IfAbsent::leave, k_lock_limit));
  if (!lock.valid())
    return end_members(folder, false, k_end_limit);  // the folder was removed by hand
  DTS_ASSIGN(const std::optional<Layout> layout, existing(folder));
  if (layout) DTS_TRY(clear(*layout));
  return remove_all(folder);
}

Result<ClusterStatus> status(const std::string& folder) {
  DTS_ASSIGN(const Layout layout, read_record(folder));
  const std::vector<Member> members = find_members(folder, layout.own_host_names);
  ClusterStatus result;
  result.name = layout.spec.name;
  result.folder = folder;
  result.conf = conf_path(folder);
  result.proctrack = to_string(layout.spec.proctrack);
  result.auth = to_string(layout.spec.auth);
  result.accounting = layout.spec.accounting;
  result.host_names = layout.own_host_names;
  result.running = daemons_live(layout, members);
  result.controller_address = layout.endpoints.controller_address();
  result.controller_port = layout.endpoints.port;
  for (unsigned node = 0; node < layout.spec.nodes; ++node)
    result.nodes.push_back(seen_from_outside(layout, node, members));
  if (can_ask(layout, members)) DTS_TRY(ask_controller(result));
  return result;
}

Result<std::vector<std::string>> cluster_names() {
  DTS_ASSIGN(const std::string parent, clusters_folder());
  std::vector<std::string> names;
  for (std::string& name : list_folder(parent))
    if (is_safe_name(name)) names.push_back(std::move(name));
  return names;
}

}  // namespace dts::cluster
