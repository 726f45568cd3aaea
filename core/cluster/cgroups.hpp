// SPDX-License-Identifier: Apache-2.0
// The control groups that slurmd makes for a node under proctrack/cgroup (Slurm 22.05:
// <hierarchy>/slurm_<node>).
#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts::cluster {

// The mount point of the cgroup v1 hierarchies. Locked while a cluster chooses its node names.
constexpr const char* k_cgroups = "/sys/fs/cgroup";

// Errc::invalid unless cgroup v1's freezer hierarchy is mounted, which is all that proctrack/cgroup
// needs, and with `constrain_cores` also cpuset, for task/cgroup. On pure v2, Slurm 22.05 needs
// systemd to create its groups, which a machine in a container lacks.
[[nodiscard]] Result<void> check_cgroups(bool constrain_cores);

// True if any Slurm on this machine has groups for one of these nodes.
[[nodiscard]] bool have_groups(const std::vector<std::string>& nodes);

// Removes the groups of these nodes. Waits up to `limit` for processes that are ending to leave
// them; Errc::io if they do not.
[[nodiscard]] Result<void> remove_groups(const std::vector<std::string>& nodes,
                                         std::chrono::milliseconds limit);

}  // namespace dts::cluster
