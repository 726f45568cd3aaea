// SPDX-License-Identifier: Apache-2.0
// The configuration files of a cluster, as text. Pure: the same layout gives the same bytes.
#pragma once

#include "core/cluster/layout/endpoints.hpp"
#include "core/cluster/layout/spec.hpp"

#include <cstdint>
#include <string>

namespace dts::cluster {

// A ClusterSpec with every machine-dependent choice made.
struct Layout {
  ClusterSpec spec;  // `folder` set
  Endpoints endpoints;
  std::string user;               // runs the daemons and all jobs
  std::uint64_t memory_mib = 0;   // RealMemory of each node
  std::string node_prefix = "n";  // node i is named prefix + i
  std::string boot;               // boot_id() at the start
  bool own_host_names =
      true;  // each slurmd has its own UTS namespace and its node's name as host name
};

[[nodiscard]] std::string node_name(const Layout& layout, unsigned node);

// FOLDER/slurm.conf: the value SLURM_CONF must have.
[[nodiscard]] std::string conf_path(const std::string& folder);

// FOLDER/hosts: what the daemons and their jobs see as /etc/hosts.
[[nodiscard]] std::string hosts_path(const std::string& folder);

// FOLDER/gpu/gpuI: a symbolic link to /dev/null, because gres.conf only accepts character devices.
[[nodiscard]] std::string gpu_path(const std::string& folder, unsigned gpu);

[[nodiscard]] std::string render_slurm_conf(const Layout& layout);
// The same, for use during the start. With NoInAddrAny, Slurm 22.05 listens on the address that the
// host name resolves to (slurm_setup_addr in src/common/slurm_protocol_api.c), and not on every
// address of the machine, where with auth/none anyone could run jobs. During the start the host
// name is therefore the daemon's numeric address. Jobs must not see the key: their srun would
// resolve a node's name, which works only if the kernel lets us mount our own /etc/hosts.
[[nodiscard]] std::string render_start_conf(const Layout& layout);

// True for a text from render_start_conf(): then the start was interrupted.
[[nodiscard]] bool is_start_conf(const std::string& text);

// hosts(5): the machine's own file, then the nodes.
[[nodiscard]] std::string render_hosts(const Layout& layout, std::string machines);

[[nodiscard]] std::string render_gres_conf(const Layout& layout);  // empty without GPUs
[[nodiscard]] std::string render_cgroup_conf(
    const Layout& layout);  // empty unless Proctrack::cgroup

}  // namespace dts::cluster
