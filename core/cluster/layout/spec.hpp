// SPDX-License-Identifier: Apache-2.0
// The shape of a private Slurm cluster on this machine.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dts::cluster {

enum class Proctrack { linuxproc, cgroup, pgid };

[[nodiscard]] const char* to_string(Proctrack proctrack);
// The inverse of to_string; `linuxproc` for any other word.
[[nodiscard]] Proctrack proctrack_of(std::string_view word);

// How Slurm authenticates requests: it believes everybody, or asks a munged of the cluster's own.
enum class Auth { none, munge };

[[nodiscard]] const char* to_string(Auth auth);
// The inverse of to_string; `none` for any other word.
[[nodiscard]] Auth auth_of(std::string_view word);

// Everything that the user chooses; the rest (ports, addresses, memory) is in `Layout`.
struct ClusterSpec {
  std::string name = "default";
  std::string folder;          // contains the whole cluster; empty: default_folder(name)
  unsigned nodes = 2;          // 1..64
  unsigned gpus_per_node = 8;  // simulated, 0..64
  std::string gpu_type;        // type of all GPUs; empty: none
  std::string features;        // of all nodes, comma-separated; empty: none
  unsigned cpus_per_node =
      0;  // claimed, up to 1024; 0: max(gpus_per_node, 4), rounded up to whole sockets
  unsigned sockets = 1;           // the CPUs of a node are spread evenly over them
  unsigned threads_per_core = 1;  // hardware threads, each of which is a CPU
  unsigned reserved_cores = 0;    // of each node, for the system (CoreSpecCount)
  unsigned grace = 20;            // GraceTime of partition `low` in seconds
  Proctrack proctrack = Proctrack::linuxproc;
  Auth auth = Auth::none;
  bool accounting = false;         // with slurmdbd and a database of its own
  bool constrain_cores = false;    // jobs are confined to the cores that Slurm gives them
  int with_process = 0;            // the process with which the cluster ends; 0: none
  std::vector<std::string> extra;  // "Key=value" lines of slurm.conf, which replace our own keys
};

// With constrain_cores and no chosen number, nodes have this machine's CPUs. Errc::invalid for more
// than exist: Slurm could not confine jobs to those. Not pure.
[[nodiscard]] Result<void> fit_machine(ClusterSpec& spec);

// cpus_per_node with the default applied.
[[nodiscard]] unsigned cpus_of(const ClusterSpec& spec);

// Errc::invalid for a spec that cannot work, with all problems, each named by its option. Pure.
[[nodiscard]] Result<void> validate(const ClusterSpec& spec);

// dtsubmit/clusters below $XDG_STATE_HOME or ~/.local/state (XDG Base Directory Specification).
// Errc::invalid if neither XDG_STATE_HOME nor HOME is set.
[[nodiscard]] Result<std::string> clusters_folder();

// ClusterName in slurm.conf. Programs keep what they learn about nodes by this name, so clusters
// without a --name in different folders differ in it.
[[nodiscard]] std::string slurm_name(const ClusterSpec& spec);

// Errc::invalid for a folder that Slurm cannot work in: its path has characters with a meaning in
// slurm.conf, or is so long that slurmstepd's sockets below it would not fit into sockaddr_un
// (unix(7): 108 bytes).
[[nodiscard]] Result<void> validate_folder(const std::string& folder);

}  // namespace dts::cluster
