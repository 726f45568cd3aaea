// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/loss.hpp"

#include "core/base/os/process_table.hpp"
#include "core/cluster/layout/record.hpp"
#include "core/cluster/processes.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <filesystem>

namespace dts::cluster {
namespace {

std::string host_name_space(pid_t pid) {
  std::error_code error;
  return std::filesystem::read_symlink(proc_path(pid, "ns/uts"), error).string();
}

}  // namespace

Result<void> lose_node(const std::string& folder, const std::string& node) {
  DTS_ASSIGN(const Layout layout, read_record(folder));
  const auto members = find_members(folder, layout.own_host_names);
  pid_t slurmd = 0;
  for (const Member& member : members)
    if (member.daemon == node) slurmd = member.pid;
  if (slurmd == 0)
    return fail(Errc::not_found, fmt::format("node {} has no slurmd in {}", node, folder));
  const std::string space = layout.own_host_names ? host_name_space(slurmd) : "";
  for (const Member& member : members) {
    // slurmstepd overwrites its environment with its title, so only its host name identifies it.
    const bool there = has_entry(environment_of(member.pid), "SLURMD_NODENAME=" + node) ||
                       (!space.empty() && host_name_space(member.pid) == space);
    if (member.pid == slurmd || there) ::kill(member.pid, SIGKILL);
  }
  return {};
}

}  // namespace dts::cluster
