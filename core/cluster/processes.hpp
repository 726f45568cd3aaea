// SPDX-License-Identifier: Apache-2.0
// Finds the processes of this machine that belong to a cluster. They are recognised by properties
// that only they have, never by a pid file, since a pid may have been reused.
#pragma once

#include "core/base/result.hpp"

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace dts::cluster {

// A variable in the environment of the daemons only (and of slurmstepd, which they start).
constexpr const char* k_mark = "DTSUBMIT_CLUSTER";

// Long enough for killed processes to disappear.
constexpr std::chrono::seconds k_end_limit(10);

struct Member {
  pid_t pid = 0;
  // "slurmctld", "munged", "mariadbd" or "slurmdbd", or the node's name for a slurmd; otherwise
  // empty.
  std::string daemon;
  std::chrono::seconds age{0};  // time since its start
};

// Every process of the cluster in `folder`, recognised by one of these signs: a daemon's k_mark;
// slurmstepd with an open file below `folder`; SLURM_CONF of this cluster in a task or batch script
// (SLURMD_NODENAME) or in a waiting client (srun, salloc, sbatch --wait, sattach); a UTS namespace
// of a daemon, with `own_host_names`; a descendant of any of these. The calling process is never
// included. Only root sees other users' processes. Thread-safe.
[[nodiscard]] std::vector<Member> find_members(const std::string& folder, bool own_host_names);

// Sends SIGKILL to every member, repeatedly, until none is left. After `limit`, Errc::io names the
// remaining ones.
[[nodiscard]] Result<void> end_members(const std::string& folder,
                                       bool own_host_names,
                                       std::chrono::milliseconds limit);

}  // namespace dts::cluster
