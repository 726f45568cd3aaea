// SPDX-License-Identifier: Apache-2.0
// A private, real Slurm on this machine: up, down, status. Calls for the same folder are serialised
// by a lock.
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/layout/spec.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dts::cluster {

struct NodeStatus {
  std::string name;
  std::string address;  // 127.a.b.c
  unsigned port = 0;
  std::string state;  // as sinfo(1) says it, e.g. "idle", "mixed", "down*"; "dead" without a slurmd
  unsigned jobs = 0;  // that run there now
  std::optional<std::chrono::seconds> uptime;  // of its slurmd; nullopt without one
};

struct ClusterStatus {
  std::string name;
  std::string folder;
  std::string conf;  // what SLURM_CONF has to name
  std::string proctrack;
  bool host_names = false;  // every node has a host name of its own
  bool running = false;     // the controller and every slurmd live
  std::string controller_address;
  unsigned controller_port = 0;
  unsigned jobs_running = 0;
  unsigned jobs_pending = 0;
  std::vector<NodeStatus> nodes;
};

struct UpResult {
  std::string conf;                   // what SLURM_CONF has to name
  std::vector<std::string> warnings;  // limitations of this cluster, a sentence each
};

// Brings the cluster up: returns at once if it runs; otherwise clears away what a crash left, and
// starts it. All nodes are idle on return; the daemons live on without the caller. Errors: invalid
// (spec, shape differs from the running one, cgroup without root), not_found (Slurm is not
// installed), io (a daemon does not start: with the end of its log).
[[nodiscard]] Result<UpResult> up(ClusterSpec spec);

// Ends the cluster in `folder`, including its jobs, and removes the folder. Not an error if it is
// absent. Errc::invalid for a folder that holds something else.
[[nodiscard]] Result<void> down(const std::string& folder);

// Errc::not_found where no cluster was started in `folder`. Never waits for a dead controller.
[[nodiscard]] Result<ClusterStatus> status(const std::string& folder);

// Names of the clusters below clusters_folder().
[[nodiscard]] Result<std::vector<std::string>> cluster_names();

}  // namespace dts::cluster
