// SPDX-License-Identifier: Apache-2.0
// The configuration files of a cluster, as text. Pure: the same layout gives the same bytes.
#pragma once

#include "core/cluster/layout/endpoints.hpp"
#include "core/cluster/layout/spec.hpp"

#include <cstdint>
#include <string>

namespace dts::cluster {

// A ClusterSpec with everything decided that depends on the machine.
struct Layout {
  ClusterSpec spec;  // `folder` set
  Endpoints endpoints;
  std::string user;               // runs the daemons and all jobs
  std::uint64_t memory_mib = 0;   // RealMemory of each node
  std::string node_prefix = "n";  // node i is called prefix + i
  std::string boot;               // boot_id() at the start
  bool own_host_names =
      true;  // each slurmd has its own UTS namespace, so its host name is its node's
};

[[nodiscard]] std::string node_name(const Layout& layout, unsigned node);

// FOLDER/slurm.conf: what SLURM_CONF has to name.
[[nodiscard]] std::string conf_path(const std::string& folder);

// FOLDER/hosts: what the daemons and their jobs find in place of /etc/hosts.
[[nodiscard]] std::string hosts_path(const std::string& folder);

// FOLDER/gpu/gpuI: symbolic links to /dev/null, because gres.conf takes character devices only.
[[nodiscard]] std::string gpu_path(const std::string& folder, unsigned gpu);

[[nodiscard]] std::string render_slurm_conf(const Layout& layout);
// The same for the time of the start. With NoInAddrAny Slurm 22.05 listens on what the host name
// resolves to (slurm_setup_addr in src/common/slurm_protocol_api.c), not on every address of the
// machine, where with auth/none anybody could run jobs. The host name is the daemon's address as a
// number then. Jobs must not see the key: their srun would look for the address of a node's name,
// which resolves only where the kernel lets us show our own /etc/hosts.
[[nodiscard]] std::string render_start_conf(const Layout& layout);

// True for a text of render_start_conf: the start was interrupted.
[[nodiscard]] bool is_start_conf(const std::string& text);

// hosts(5): the text of the machine's own file, then the nodes.
[[nodiscard]] std::string render_hosts(const Layout& layout, std::string machines);

[[nodiscard]] std::string render_gres_conf(const Layout& layout);  // empty without GPUs
[[nodiscard]] std::string render_cgroup_conf(
    const Layout& layout);  // empty unless Proctrack::cgroup

}  // namespace dts::cluster
