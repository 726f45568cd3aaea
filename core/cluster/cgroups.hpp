// SPDX-License-Identifier: Apache-2.0
// The control groups that slurmd makes for a node under proctrack/cgroup (Slurm 22.05:
// <hierarchy>/slurm_<node>).
#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts::cluster {

// Where the hierarchies of cgroup v1 are mounted. Locked while a cluster chooses the names of its
// nodes.
constexpr const char* k_cgroups = "/sys/fs/cgroup";

// Errc::invalid unless the freezer hierarchy of cgroup v1 is mounted, all that proctrack/cgroup
// needs, and with `constrain_cores` the cpuset one, for task/cgroup. Slurm 22.05 on pure v2 wants
// systemd to make its groups, which a machine in a container does not have.
[[nodiscard]] Result<void> check_cgroups(bool constrain_cores);

// True when a Slurm has groups for any of these nodes on this machine.
[[nodiscard]] bool have_groups(const std::vector<std::string>& nodes);

// Removes the groups of these nodes; waits up to `limit` for ended processes to leave them.
// Errc::io otherwise.
[[nodiscard]] Result<void> remove_groups(const std::vector<std::string>& nodes,
                                         std::chrono::milliseconds limit);

}  // namespace dts::cluster
