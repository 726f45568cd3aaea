// SPDX-License-Identifier: Apache-2.0
// A private, real Slurm on this machine: brings it up and down, and reports its status. A lock
// serialises calls for the same folder.
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
  std::string state;  // from sinfo(1), e.g. "idle", "mixed", "down*"; "dead" without a slurmd
  unsigned jobs = 0;  // jobs running on the node
  std::optional<std::chrono::seconds> uptime;  // of its slurmd; nullopt if there is none
};

struct ClusterStatus {
  std::string name;
  std::string folder;
  std::string conf;  // value that SLURM_CONF must have
  std::string proctrack;
  std::string auth;  // "none" or "munge"
  bool accounting = false;
  bool host_names = false;  // every node has a host name of its own
  bool running = false;     // the controller and every slurmd live
  std::string controller_address;
  unsigned controller_port = 0;
  unsigned jobs_running = 0;
  unsigned jobs_pending = 0;
  std::vector<NodeStatus> nodes;
};

struct UpResult {
  std::string conf;                   // value that SLURM_CONF must have
  std::vector<std::string> warnings;  // limitations of this cluster, one sentence each
};

// Brings the cluster up: returns at once if it runs, otherwise clears what a crash left behind and
// starts it. All nodes are idle on return, and the daemons outlive the caller. Errors: invalid (bad
// spec, its shape differs from the running cluster's, cgroup without root), not_found (Slurm or a
// service that the spec requires is not installed), io (a daemon does not start; includes the end
// of its log).
[[nodiscard]] Result<UpResult> up(ClusterSpec spec);

// Ends the cluster in `folder`, including its jobs, and removes the folder. No error if it is
// absent. Errc::invalid for a folder that holds something else.
[[nodiscard]] Result<void> down(const std::string& folder);

// Errc::not_found if no cluster was started in `folder`. Never waits for a dead controller.
[[nodiscard]] Result<ClusterStatus> status(const std::string& folder);

// Names of the clusters below clusters_folder().
[[nodiscard]] Result<std::vector<std::string>> cluster_names();

}  // namespace dts::cluster
