// SPDX-License-Identifier: Apache-2.0
// The shape of a private Slurm cluster on this machine.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::cluster {

enum class Proctrack { linuxproc, cgroup };

[[nodiscard]] const char* to_string(Proctrack proctrack);

// Everything a person chooses; the rest (ports, addresses, memory) follows in `Layout`.
struct ClusterSpec {
  std::string name = "default";
  std::string folder;  // everything of the cluster lies below it; empty: default_folder(name)
  unsigned nodes = 2;  // 1..64
  unsigned gpus_per_node = 8;  // simulated ones, 0..64
  std::string gpu_type;        // of all of them; empty: none
  std::string features;        // of all nodes, comma-separated; empty: none
  unsigned cpus_per_node =
      0;  // claimed ones, up to 1024; 0: max(gpus_per_node, 4), rounded up to whole sockets
  unsigned sockets = 1;  // the CPUs of a node are spread over them evenly
  unsigned grace = 20;   // GraceTime of partition `low`, seconds
  Proctrack proctrack = Proctrack::linuxproc;
  bool constrain_cores = false;    // jobs are held to the cores that Slurm gives them
  std::vector<std::string> extra;  // "Key=value" lines of slurm.conf; one of our keys is replaced
};

// With constrain_cores the nodes have this machine's CPUs, where no number was chosen.
// Errc::invalid for more than there are: Slurm could not hold jobs to those. Not pure.
[[nodiscard]] Result<void> fit_machine(ClusterSpec& spec);

// cpus_per_node with the default applied.
[[nodiscard]] unsigned cpus_of(const ClusterSpec& spec);

// Errc::invalid with every problem, named by option, for a spec that cannot work. Pure.
[[nodiscard]] Result<void> validate(const ClusterSpec& spec);

// $XDG_STATE_HOME or ~/.local/state, then dtsubmit/clusters (XDG Base Directory Specification).
// Errc::invalid where neither XDG_STATE_HOME nor HOME is set.
[[nodiscard]] Result<std::string> clusters_folder();

// Errc::invalid for a folder that Slurm cannot work in: characters that mean something in
// slurm.conf, or a path so long that the sockets of slurmstepd below it would not fit in
// sockaddr_un (unix(7): 108 bytes).
[[nodiscard]] Result<void> validate_folder(const std::string& folder);

}  // namespace dts::cluster
